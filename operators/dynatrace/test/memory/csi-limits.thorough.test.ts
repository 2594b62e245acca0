/** The CSI driver as it ships, under the memory limits and with the container env of the chart, in real memory cgroups. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readlink, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { DaemonSet } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DRIVER_OBJECTS } from '../../src/csi/names.ts'
import { find } from '../chart/support/find.ts'
import { csiNode } from '../csi/support/csi-node.ts'
import { provisionerWorld } from '../csi/support/provisioner-process.ts'
import { TENANT } from '../csi/support/provisioner-stage.ts'
import { MemoryGroup } from '../support/memory-group.ts'
import { helmPath, renderChart } from '../support/render-chart.ts'
import { until } from '../support/until.ts'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const MIB = 1024 ** 2
const VOLUMES = 400
const AT_ONCE = 20
const AGENT_BYTES = 64 * MIB
/** What must be left of the limit, for mapped code and memory of the kernel. */
const HEADROOM = 0.3

const obstacle = helmPath === undefined ? 'helm is missing' : await MemoryGroup.obstacle()

/** The memory limit and the plain container env of a container of the driver. */
async function containerOfChart(name: string) {
  const object = find(await renderChart('dynatrace', ['installCRD=false']), 'DaemonSet', DRIVER_OBJECTS)
  // The kind says what it is.
  const { containers = [] } = (object as DaemonSet | undefined)?.spec?.template.spec ?? {}
  const { resources, env = [] } = containers.find((container) => container.name === name) ?? {}
  const [, mebibytes] = /^(\d+)Mi$/.exec(resources?.limits?.memory ?? '') ?? []
  const plain = env.flatMap(({ name: variable, value }) => (value === undefined ? [] : [[variable, value]]))
  return { limitBytes: Number(mebibytes) * MIB, env: Object.fromEntries(plain) as Readonly<Record<string, string>> }
}

/** Measures anonymous memory while `work` runs; returns the peak. */
async function peakAnonymousBytes(pid: number | undefined, work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const measure = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    peak = Math.max(peak, Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024)
  }
  const timer = setInterval(() => void measure(), 20)
  try {
    await measure()
    await work()
    await measure()
    return peak
  } finally {
    clearInterval(timer)
  }
}

describe.skipIf(obstacle !== undefined)(
  `the CSI driver of the image${obstacle ? ` (skipped: ${obstacle})` : ''}`,
  () => {
    let folder: string
    let program: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'reeve-csi-limits-'))
      await promisify(execFile)('npm', ['run', 'bundle'], { cwd: PACKAGE, env: { ...process.env, OUTDIR: folder } })
      // The image has koffi beside the bundle, too.
      await symlink(join(PACKAGE, '../../node_modules'), join(folder, 'node_modules'))
      program = join(folder, 'dynatrace-operator.js')
    }, 120_000)
    afterAll(() => rm(folder, { recursive: true, force: true }))

    it(`mounts ${VOLUMES} volumes, ${AT_ONCE} at once, as registrar and liveness probe as well`, async () => {
      const { limitBytes, env } = await containerOfChart('server')
      await using group = await MemoryGroup.create(`reeve-csi-server-${process.pid}`, limitBytes)
      await using node = await csiNode()
      await node.installModule('1.2.3.4-5', 'dk')
      const registration = ['--kubelet-registration-path=/node/csi.sock', `--plugin-registration-path=${node.folder}`]
      const driver = await node.start(env, [...registration, '--health-port=0'], { program, runner: group.runner })
      const pods = Array.from({ length: VOLUMES }, (_, index) => ({ pod: `web-${index}` }))
      const outcomes: unknown[] = []
      const peak = await peakAnonymousBytes(driver.process.pid, async () => {
        for (const call of [driver.publish, driver.unpublish]) {
          for (let at = 0; at < VOLUMES; at += AT_ONCE) {
            outcomes.push(...(await Promise.all(pods.slice(at, at + AT_ONCE).map((volume) => call(volume)))))
          }
        }
      })
      expect(outcomes).toEqual(outcomes.map(() => ({ response: {} })))
      expect([await group.kills(), await driver.stop()]).toEqual([0, 0])
      expect(peak).toBeLessThan(limitBytes * (1 - HEADROOM))
    })

    it(`installs an agent of ${AGENT_BYTES / MIB} MiB`, { timeout: 300_000 }, async () => {
      const { limitBytes, env } = await containerOfChart('provisioner')
      await using group = await MemoryGroup.create(`reeve-csi-provisioner-${process.pid}`, limitBytes)
      await using world = await provisionerWorld({ agentSizeBytes: AGENT_BYTES })
      const version = world.simulator.tenant(TENANT).versions.agent
      await world.dynakube('dk', version)
      const dataRoot = join(world.folder, 'data')
      const provisioner = world.start({ dataRoot, program, prefix: group.runner, env })
      const link = provisioner.paths.latestCodeModule('dk')
      const isLinked = () =>
        readlink(link).then(
          () => true,
          () => false,
        )
      const peak = await peakAnonymousBytes(provisioner.process.pid, () => until('the agent', isLinked))
      expect([await group.kills(), await provisioner.stop()]).toEqual([0, 0])
      expect(peak).toBeLessThan(limitBytes * (1 - HEADROOM))
    })
  },
)
