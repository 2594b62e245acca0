import { existsSync, watch } from 'node:fs'
import { mkdir, open, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { eventually, runProgram } from '@reeve/real-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { APPS, app, deleteApp, INSTALL_PATH, initContainers, mapped, mountsOf } from './support/apps.ts'
import { cgroupOf, killProcesses } from './support/cgroups.ts'
import { restartComponent, startComponent, stopComponent } from './support/components.ts'
import {
  chartReady,
  deleteDynakube,
  dynakube,
  installChart,
  NAMESPACE,
  startTenant,
  TENANT,
  uninstallChart,
} from './support/dynatrace.ts'
import { recordMemory } from './support/figures.ts'
import { apply, exec, get, type Json, kubectl, list, podReady } from './support/kubectl.ts'
import { DRIVER_DATA, driverMounts } from './support/node-state.ts'

const MIB = 1024 * 1024
/** Large enough for unpacking to take a while. */
const AGENT_BYTES = 48 * MIB
/** The disk of the driver: two agents fit with the archive of one, and what pods write. */
const DISK_BYTES = 192 * MIB
const API_SERVER_OUTAGE_MS = 60_000
const NEXT_VERSION = '1.323.1.20251001-000000'

/** The kubelet retries volumes, and containers that were killed, after minutes at most. */
const RECOVERY = { timeoutMs: 450_000 }

let simulator: TenantSimulator
let version: string

beforeAll(async () => {
  await mkdir(DRIVER_DATA, { recursive: true })
  await runProgram('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'disk', DRIVER_DATA])
  simulator = await startTenant({ agentSizeBytes: AGENT_BYTES })
  version = simulator.tenant(TENANT).versions.agent
  await installChart()
  await kubectl('create', 'namespace', APPS)
})
afterAll(async () => {
  await kubectl('delete', 'namespace', APPS)
  await deleteDynakube('dk')
  await uninstallChart()
  await simulator.close()
  await runProgram('umount', [DRIVER_DATA])
})

it('the driver installs an agent after the provisioner was killed while it unpacked it', async () => {
  const provisioner = await driverContainer('provisioner')
  const killed = whenCreated(DRIVER_DATA, 'tmp_zip', async () => ({
    processes: await killProcesses(provisioner),
    installed: await agents(),
  }))
  await useVersion(version)
  await mapped('dk')
  const { processes, installed } = await killed
  expect(processes).toBeGreaterThan(0)
  expect(installed).toEqual([])
  // It sees all failures that follow.
  await apply(app('witness'))
  await podReady(APPS, 'witness', RECOVERY)
  await expectAgent('witness')
  expect(await agents()).toEqual([version])
  expect(existsSync(join(DRIVER_DATA, 'tmp_zip'))).toBe(false)
})

it('the node starts pods after the driver was killed while it published their volumes', async () => {
  const names = ['published-0', 'published-1', 'published-2']
  const server = await driverContainer('server')
  const killed = whenCreated(join(DRIVER_DATA, 'appmounts'), /./, () => killProcesses(server))
  await apply(...names.map((name) => app(name)))
  expect(await killed).toBeGreaterThan(0)
  await expectStarted(names)
})

it('the node starts pods after the kubelet and containerd were killed, and leaves those alone that run', async () => {
  const before = await get('pod', APPS, 'witness')
  const names = ['restarted-0', 'restarted-1']
  await apply(app('restarted-0'))
  await restartComponent('kubelet')
  await apply(app('restarted-1'))
  await restartComponent('containerd')
  await expectStarted(names)
  const after = await podReady(APPS, 'witness')
  expect(after.status.containerStatuses[0]).toMatchObject({
    containerID: before.status.containerStatuses[0].containerID,
    restartCount: 0,
  })
})

it('the node keeps injected pods running without the API server for a minute, and starts others afterwards', async () => {
  const witness = await get('pod', APPS, 'witness')
  const cgroup = (await cgroupOf(witness.status.containerStatuses[0])) ?? ''
  await apply(app('waiting'))
  await stopComponent('kube-apiserver')
  await sleep(API_SERVER_OUTAGE_MS)
  const [pid] = (await readFile(join(cgroup, 'cgroup.procs'), 'utf8')).split('\n')
  expect(await readdir(`/proc/${pid}/root/${INSTALL_PATH}/agent`)).toContain('lib64')
  await startComponent('kube-apiserver')
  await chartReady()
  await apply(app('after-outage'))
  await expectStarted(['waiting', 'after-outage'])
})

it('the node starts pods and installs the next agent once there is space on the disk again', async () => {
  const ballast = join(DRIVER_DATA, 'ballast')
  await fillDisk(ballast)
  simulator.tenant(TENANT).versions.release(NEXT_VERSION)
  await useVersion(NEXT_VERSION)
  await apply(app('full'))
  await eventually('the provisioner reports the full disk', async () => {
    const [driver] = await driverPods()
    const log = await kubectl('logs', driver.metadata.name, '--namespace', NAMESPACE, '--container', 'provisioner')
    return log.includes('ENOSPC')
  })
  await rm(ballast)
  await expectStarted(['full'])
  await eventually('new pods get the next agent', async () => (await latestAgent()) === NEXT_VERSION, RECOVERY)
  await apply(app('next'))
  await expectStarted(['next'])
})

it('the node has no stray mounts, volumes or downloads in the end', async () => {
  await deleteApp(await get('pod', APPS, 'witness'))
  expect(await driverMounts()).toEqual([])
  expect(await readdir(join(DRIVER_DATA, 'appmounts'))).toEqual([])
  expect((await readdir(join(DRIVER_DATA, 'codemodules'))).filter((name) => name.startsWith('download'))).toEqual([])
})

it('the Dynatrace operator stayed within its memory limits', async () => {
  expect(await recordMemory(NAMESPACE)).toEqual([])
})

/** Waits until pods are ready and have one overlay each, then deletes them. */
async function expectStarted(names: readonly string[]): Promise<void> {
  const pods = await Promise.all(names.map((name) => podReady(APPS, name, RECOVERY)))
  for (const pod of pods) {
    expect(initContainers(pod)).toContain('dynatrace-operator')
    await expectAgent(pod.metadata.name)
    expect(await csiMounts(pod)).toHaveLength(1)
  }
  // An overlay and what the pod sees of it, for these and for the witness.
  expect(await driverMounts()).toHaveLength(2 * (names.length + 1))
  await Promise.all(pods.map(deleteApp))
}

async function expectAgent(pod: string): Promise<void> {
  expect(await exec(APPS, pod, 'ls', `${INSTALL_PATH}/agent/lib64`)).toContain('liboneagentproc.so')
}

async function csiMounts(pod: Json): Promise<readonly string[]> {
  return (await mountsOf(pod)).filter((line) => line.includes('kubernetes.io~csi'))
}

/** The DynaKube, with this version of code modules. */
async function useVersion(wanted: string): Promise<void> {
  await apply(...dynakube(simulator, 'dk', { oneAgent: { applicationMonitoring: { version: wanted } } }))
}

/** Versions of the agents on the node. */
async function agents(): Promise<readonly string[]> {
  const names = await readdir(join(DRIVER_DATA, 'codemodules')).catch(() => [])
  return names.filter((name) => /^\d/.test(name))
}

/** The version that new pods get. The link is one of the driver's container, so that it leads nowhere on the node. */
async function latestAgent(): Promise<string> {
  return basename(await readlink(join(DRIVER_DATA, '_dynakubes/dk/latest-codemodule')))
}

function driverPods(): Promise<readonly Json[]> {
  return list('pods', NAMESPACE, '--selector', 'internal.oneagent.dynatrace.com/component=csi-driver')
}

/** The cgroup of a container of the driver. */
async function driverContainer(name: string): Promise<string> {
  const [pod] = await driverPods()
  const folder = await cgroupOf(pod.status.containerStatuses.find((status: Json) => status.name === name))
  if (folder === undefined) throw new Error(`the container ${name} of the driver does not run`)
  return folder
}

/** Calls `act` as soon as something is created in a folder, and returns its result. */
async function whenCreated<T>(folder: string, name: string | RegExp, act: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true })
  const { promise, resolve } = Promise.withResolvers<void>()
  const watcher = watch(folder, (_event, created) => {
    if (created !== null && (typeof name === 'string' ? created === name : name.test(created))) resolve()
  })
  await promise
  watcher.close()
  return act()
}

/** Writes until nothing fits anymore. */
async function fillDisk(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (let size = MIB; size >= 1; size = Math.floor(size / 16)) {
      const isFull = async () => {
        for (;;) await file.write(Buffer.alloc(size, 1))
      }
      await isFull().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOSPC') throw error
      })
    }
  } finally {
    await file.close()
  }
}
