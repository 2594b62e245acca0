import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { eventually } from '@reeve/real-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APPS, app, deleteApp, INSTALL_PATH, initContainers, mapped, mountsOf, startApp } from './support/apps.ts'
import {
  deleteDynakube,
  dynakube,
  dynakubePhase,
  inOperator,
  installChart,
  NAMESPACE,
  startTenant,
  supportArchive,
  uninstallChart,
} from './support/dynatrace.ts'
import { print, publishTimes, recordMemory } from './support/figures.ts'
import { apply, exec, get, type Json, kubectl, list, podReady } from './support/kubectl.ts'
import { DRIVER_DATA } from './support/node-state.ts'

const VOLUMES = 10

let simulator: TenantSimulator

/** Of a report of troubleshoot: the checks ran, and none found an error. */
function expectAllPassed(report: string): void {
  expect(report).toContain(' ✓  the API server reaches the webhook')
  expect(report.split('\n').filter((line) => line.includes(' X  '))).toEqual([])
}

beforeAll(async () => {
  simulator = await startTenant()
  await installChart()
  await kubectl('create', 'namespace', APPS)
})
afterAll(async () => {
  await kubectl('delete', 'namespace', APPS)
  await uninstallChart()
  await simulator.close()
})

describe('a DynaKube with cloudNativeFullStack and the CSI driver', () => {
  beforeAll(async () => {
    // Not the pods of other suites: their volumes could not be unmounted any more once the driver is uninstalled.
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': APPS } }
    const metadataEnrichment = { enabled: true, namespaceSelector }
    const oneAgent = { cloudNativeFullStack: { namespaceSelector } }
    const activeGate = { capabilities: ['routing', 'kubernetes-monitoring'] }
    await apply(...dynakube(simulator, 'dk', { metadataEnrichment, oneAgent, activeGate }))
    await mapped('dk')
  })
  afterAll(() => deleteDynakube('dk'))

  it('registers its driver with the kubelet', async () => {
    await eventually('the node has the driver', async () => {
      const node = await get('csinode', '', 'node-1')
      return (node?.spec.drivers ?? []).some((driver: Json) => driver.name === 'csi.oneagent.dynatrace.com')
    })
  })

  it('mounts code modules into a pod as an overlay and unmounts them with it', async () => {
    const pod = await startApp('app')
    expect(initContainers(pod)).toContain('dynatrace-operator')
    expect(await exec(APPS, 'app', 'ls', `${INSTALL_PATH}/agent/lib64`)).toContain('liboneagentproc.so')
    expect(await exec(APPS, 'app', 'env')).toContain(`LD_PRELOAD=${INSTALL_PATH}/agent/lib64/liboneagentproc.so`)
    expect(await exec(APPS, 'app', 'cat', '/proc/self/mounts')).toMatch(new RegExp(`^overlay ${INSTALL_PATH}`, 'm'))
    const metadata = await exec(APPS, 'app', 'cat', '/var/lib/dynatrace/enrichment/dt_metadata.properties')
    expect(metadata).toContain('k8s.pod.name=app')
    expect(await mountsOf(pod)).not.toEqual([])
    await deleteApp(pod)
  })

  it('starts and removes pods side by side', async () => {
    const seconds = async (name: string, annotations?: Readonly<Record<string, string>>) => {
      const startedAt = performance.now()
      const pod = await startApp(name, annotations)
      const took = (performance.now() - startedAt) / 1000
      await deleteApp(pod)
      return took.toFixed(1)
    }
    const withInjection = await seconds('injected')
    const withoutInjection = await seconds('plain', { 'dynatrace.com/inject': 'false' })
    const names = Array.from({ length: VOLUMES }, (_, index) => `app-${index}`)
    const startedAt = performance.now()
    await apply(...names.map((name) => app(name)))
    const pods = await Promise.all(names.map((name) => podReady(APPS, name)))
    for (const pod of pods) expect(initContainers(pod)).toContain('dynatrace-operator')
    const together = ((performance.now() - startedAt) / 1000).toFixed(1)
    await Promise.all(pods.map(deleteApp))
    print('seconds from the creation of a pod until it is ready', [
      { pods: 'one, not injected', seconds: withoutInjection },
      { pods: 'one, injected', seconds: withInjection },
      { pods: `${VOLUMES} at once, injected`, seconds: together },
    ])
    print('publishing of volumes', [await publishTimes('csi.oneagent.dynatrace.com')])
  })

  it('runs OneAgent and ActiveGate until the DynaKube is Running', async () => {
    await dynakubePhase('dk', 'Running')
    const [agent] = await list('pods', NAMESPACE, '--selector', 'app.kubernetes.io/name=oneagent')
    const metadata = '/var/lib/dynatrace/enrichment/dt_node_metadata.properties'
    expect(await exec(NAMESPACE, agent.metadata.name, '/bin/busybox', 'cat', metadata)).toContain(
      'k8s.node.name=node-1',
    )
    const written = globSync('**/environment', { cwd: DRIVER_DATA })
    expect(written).toEqual(['_dynakubes/dk/osagent/environment'])
  })

  it('lets troubleshoot find nothing wrong', async () => {
    expectAllPassed(await inOperator('troubleshoot'))
  })

  it('collects the logs of real pods into a support archive', async () => {
    const folder = await supportArchive()
    const log = (pod: string, container: string) => readFile(join(folder, `logs/${pod}/${container}.log`), 'utf8')
    const pods = await list('pods', NAMESPACE)
    for (const { metadata, spec } of pods) {
      for (const { name } of spec.containers) expect(await log(metadata.name, name)).toMatch(/\S/)
    }
    const driver = pods.find(({ metadata }) => metadata.name.startsWith('dynatrace-oneagent-csi-driver'))
    expect(await log(driver.metadata.name, 'provisioner')).toContain('downloaded an agent')
    expectAllPassed(await readFile(join(folder, 'troubleshoot.txt'), 'utf8'))
  })

  it('stays within its memory limits', async () => {
    expect(await recordMemory(NAMESPACE, APPS)).toEqual([])
  })
})
