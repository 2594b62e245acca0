import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { eventually, type LayoutRegistry } from '@reeve/real-node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { APPS, deleteApp, INSTALL_PATH, initContainers, mapped, startApp } from './support/apps.ts'
import { serveCodeModules } from './support/code-modules-image.ts'
import {
  deleteDynakube,
  dynakube,
  installChart,
  NAMESPACE,
  startTenant,
  TENANT,
  uninstallChart,
} from './support/dynatrace.ts'
import { recordMemory } from './support/figures.ts'
import { apply, exec, get, type Json, kubectl, list } from './support/kubectl.ts'

let simulator: TenantSimulator
let images: LayoutRegistry
let version: string

beforeAll(async () => {
  simulator = await startTenant()
  version = simulator.tenant(TENANT).versions.agent
  images = await serveCodeModules(simulator, version)
  await installChart()
  await kubectl('create', 'namespace', APPS)
})
afterAll(async () => {
  await kubectl('delete', 'namespace', APPS)
  await uninstallChart()
  await simulator.close()
  await images[Symbol.asyncDispose]()
})
afterEach(() => deleteDynakube('dk'))

async function create(spec: Json, annotations?: Readonly<Record<string, string>>): Promise<void> {
  await apply(...dynakube(simulator, 'dk', spec, annotations))
  await mapped('dk')
}

async function expectCodeModules(name: string): Promise<void> {
  expect(await exec(APPS, name, 'ls', `${INSTALL_PATH}/agent/lib64`)).toContain('liboneagentproc.so')
  expect(await exec(APPS, name, 'env')).toContain('LD_PRELOAD=')
}

describe('with the CSI driver', () => {
  it('injects code modules of an image that the driver pulls', async () => {
    const codeModulesImage = simulator.registry.reference('dynatrace/dynatrace-codemodules', version)
    await create({ oneAgent: { applicationMonitoring: { codeModulesImage } } })
    const pod = await startApp('pulled')
    await expectCodeModules('pulled')
    await deleteApp(pod)
  })

  it('injects code modules that a Job copies onto the node, and those of an image that copies itself', async () => {
    const codeModulesImage = images.reference('code-modules')
    const annotations = { 'feature.dynatrace.com/node-image-pull': 'true' }
    await create({ oneAgent: { applicationMonitoring: { codeModulesImage } } }, annotations)
    const byJob = await startApp('by-job')
    await expectCodeModules('by-job')
    // The Job itself is deleted seconds after it has completed.
    const created = await list(
      'events',
      NAMESPACE,
      '--field-selector',
      'involvedObject.kind=Job,reason=SuccessfulCreate',
    )
    expect(created.map((event) => event.involvedObject.name)).toEqual([expect.stringMatching(/^codemodule-download-/)])
    const byItself = await startApp('by-itself', { 'oneagent.dynatrace.com/volume-type': 'ephemeral' })
    await expectCodeModules('by-itself')
    const [init] = byItself.spec.initContainers
    expect(init.image).toContain('code-modules')
    await Promise.all([deleteApp(byJob), deleteApp(byItself)])
  })

  it('gives the OneAgent of hostMonitoring a volume of the driver that keeps what it writes', async () => {
    await apply(...dynakube(simulator, 'dk', { oneAgent: { hostMonitoring: {} } }))
    const agent = await eventually('the OneAgent runs', async () => {
      const [pod] = await list('pods', NAMESPACE, '--selector', 'app.kubernetes.io/name=oneagent')
      return pod?.status.phase === 'Running' && pod
    })
    const name = agent.metadata.name
    const file = '/mnt/volume_storage_mount/kept'
    await exec(NAMESPACE, name, '/bin/busybox', 'touch', file)
    await kubectl('delete', 'pod', name, '--namespace', NAMESPACE, '--timeout', '280s')
    const next = await eventually('the OneAgent runs again', async () => {
      const [pod] = await list('pods', NAMESPACE, '--selector', 'app.kubernetes.io/name=oneagent')
      return pod?.metadata.name !== name && pod?.status.phase === 'Running' && pod
    })
    await exec(NAMESPACE, next.metadata.name, '/bin/busybox', 'ls', file)
  })

  it('only enriches pods without code modules', async () => {
    await create({ metadataEnrichment: { enabled: true } })
    const pod = await startApp('enriched')
    expect(initContainers(pod)).toEqual(['dynatrace-operator'])
    const metadata = await exec(APPS, 'enriched', 'cat', '/var/lib/dynatrace/enrichment/dt_metadata.properties')
    expect(metadata).toContain(`k8s.namespace.name=${APPS}`)
    expect(await exec(APPS, 'enriched', 'env')).not.toContain('LD_PRELOAD')
    await deleteApp(pod)
  })

  it('configures OTLP exporters', async () => {
    await create({ otlpExporterConfiguration: { signals: { metrics: {}, traces: {}, logs: {} } } })
    const pod = await startApp('exporter')
    expect(await exec(APPS, 'exporter', 'env')).toContain('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=')
    await deleteApp(pod)
  })

  it('stayed within its memory limits', async () => {
    expect(await recordMemory(NAMESPACE)).toEqual([])
  })
})

describe('without the CSI driver', () => {
  beforeAll(() => installChart('csidriver.enabled=false'))

  it('downloads code modules in the init container of each pod', async () => {
    await create({ oneAgent: { applicationMonitoring: {} } })
    const pod = await startApp('downloaded')
    await expectCodeModules('downloaded')
    expect(await get('csidriver', '', 'csi.oneagent.dynatrace.com')).toBeUndefined()
    expect(await recordMemory(NAMESPACE, APPS)).toEqual([])
    await deleteApp(pod)
  })
})
