import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { eventually, type LayoutRegistry } from '@reeve/real-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteApp, INSTALL_PATH, initContainers, mapped, startApp } from './support/apps.ts'
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
})
afterAll(async () => {
  await uninstallChart()
  await simulator.close()
  await images[Symbol.asyncDispose]()
})

/** A DynaKube of its own for one namespace, both with this name, until it is disposed of. */
async function monitored(
  name: string,
  spec: (namespaceSelector: object) => object,
  annotations?: Readonly<Record<string, string>>,
): Promise<AsyncDisposable> {
  const labels = { monitored: name }
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  await apply(...dynakube(simulator, name, spec({ matchLabels: labels }), annotations))
  await mapped(name, name)
  return {
    async [Symbol.asyncDispose]() {
      await deleteDynakube(name)
      await kubectl('delete', 'namespace', name, '--timeout', '280s')
    },
  }
}

async function expectCodeModules({ metadata }: Json): Promise<void> {
  const { namespace, name } = metadata
  expect(await exec(namespace, name, 'ls', `${INSTALL_PATH}/agent/lib64`)).toContain('liboneagentproc.so')
  expect(await exec(namespace, name, 'env')).toContain('LD_PRELOAD=')
}

// The kubelet repeats mounts with growing delays until an agent is installed: they wait for that at the same time.
describe.concurrent('with the CSI driver', () => {
  it('injects code modules of an image that the driver pulls', async () => {
    const codeModulesImage = simulator.registry.reference('dynatrace/dynatrace-codemodules', version)
    await using _ = await monitored('pulled', (namespaceSelector) => ({
      oneAgent: { applicationMonitoring: { codeModulesImage, namespaceSelector } },
    }))
    const pod = await startApp('app', {}, 'pulled')
    await expectCodeModules(pod)
    await deleteApp(pod)
  })

  it('injects code modules that a Job copies onto the node, and those of an image that copies itself', async () => {
    const codeModulesImage = images.reference('code-modules')
    await using _ = await monitored(
      'copied',
      (namespaceSelector) => ({ oneAgent: { applicationMonitoring: { codeModulesImage, namespaceSelector } } }),
      { 'feature.dynatrace.com/node-image-pull': 'true' },
    )
    const byJob = await startApp('by-job', {}, 'copied')
    await expectCodeModules(byJob)
    // The Job itself is deleted seconds after it has completed.
    const created = await list(
      'events',
      NAMESPACE,
      '--field-selector',
      'involvedObject.kind=Job,reason=SuccessfulCreate',
    )
    expect(created.map((event) => event.involvedObject.name)).toEqual([expect.stringMatching(/^codemodule-download-/)])
    const byItself = await startApp('by-itself', { 'oneagent.dynatrace.com/volume-type': 'ephemeral' }, 'copied')
    await expectCodeModules(byItself)
    const [init] = byItself.spec.initContainers
    expect(init.image).toContain('code-modules')
    await Promise.all([deleteApp(byJob), deleteApp(byItself)])
  })

  it('gives the OneAgent of hostMonitoring a volume of the driver that keeps what it writes', async () => {
    await apply(...dynakube(simulator, 'host', { oneAgent: { hostMonitoring: {} } }))
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
    await deleteDynakube('host')
  })

  it('only enriches pods without code modules', async () => {
    await using _ = await monitored('enriched', (namespaceSelector) => ({
      metadataEnrichment: { enabled: true, namespaceSelector },
    }))
    const pod = await startApp('app', {}, 'enriched')
    expect(initContainers(pod)).toEqual(['dynatrace-operator'])
    const metadata = await exec('enriched', 'app', 'cat', '/var/lib/dynatrace/enrichment/dt_metadata.properties')
    expect(metadata).toContain('k8s.namespace.name=enriched')
    expect(await exec('enriched', 'app', 'env')).not.toContain('LD_PRELOAD')
    await deleteApp(pod)
  })

  it('configures OTLP exporters', async () => {
    await using _ = await monitored('exporting', (namespaceSelector) => ({
      otlpExporterConfiguration: { signals: { metrics: {}, traces: {}, logs: {} }, namespaceSelector },
    }))
    const pod = await startApp('app', {}, 'exporting')
    expect(await exec('exporting', 'app', 'env')).toContain('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=')
    await deleteApp(pod)
  })
})

it('the Dynatrace operator stayed within its memory limits', async () => {
  expect(await recordMemory(NAMESPACE)).toEqual([])
})

describe('without the CSI driver', () => {
  beforeAll(() => installChart('csidriver.enabled=false'))

  it('downloads code modules in the init container of each pod', async () => {
    await using _ = await monitored('downloaded', (namespaceSelector) => ({
      oneAgent: { applicationMonitoring: { namespaceSelector } },
    }))
    const pod = await startApp('app', {}, 'downloaded')
    await expectCodeModules(pod)
    expect(await get('csidriver', '', 'csi.oneagent.dynatrace.com')).toBeUndefined()
    expect(await recordMemory(NAMESPACE, 'downloaded')).toEqual([])
    await deleteApp(pod)
  })
})
