/** Releases of another chart of the operator that become ones of this chart, and what the API server says of resources. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { helmsToTry } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, DaemonSets, Deployments, type KubeClient } from '@reeve/kube'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { CHART, renderChart } from '../support/render-chart.ts'

/** Some of what other charts of the operator have; nothing that only this one has. */
const VALUES_OF_OTHERS = {
  imageRef: { repository: '', tag: '' },
  debugLogs: false,
  // Nothing would run it on a control plane without nodes.
  crdStorageMigrationJob: false,
  operator: { tolerations: [], requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '100m', memory: '128Mi' } },
  webhook: {
    requests: { cpu: '300m', memory: '128Mi' },
    limits: { cpu: '300m', memory: '128Mi' },
    highAvailability: true,
    mutatingWebhook: { failurePolicy: 'Ignore', timeoutSeconds: 10 },
  },
  csidriver: {
    enabled: true,
    provisioner: { resources: { requests: { cpu: '300m', memory: '100Mi' } } },
    registrar: { resources: { requests: { cpu: '20m', memory: '30Mi' }, limits: { cpu: '20m', memory: '30Mi' } } },
  },
  rbac: { activeGate: { create: true, annotations: {} }, supportability: true },
}
/** As a user sets them: a key without a value is null. */
const VALUES_OF_USER = {
  debugLogs: 'true',
  // They are most of helm's work, and the same in every release.
  installCRD: false,
  operator: { tolerations: null },
  csidriver: { cleanupPeriod: '1h' },
}

let cluster: ClusterUnderTest
let client: KubeClient
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-values-'))
  cluster = await openCluster({ isExclusive: true })
  client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'helm' })
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
  await rm(folder, { recursive: true, force: true })
})

describe.each(await helmsToTry())('the chart with $name', ({ path }) => {
  /** Rejects with what helm says. */
  async function helm(...args: readonly string[]): Promise<string> {
    const env = {
      ...process.env,
      KUBECONFIG: cluster.kubeconfigPath,
      HELM_CACHE_HOME: folder,
      HELM_CONFIG_HOME: folder,
      GOGC: 'off',
    }
    const { stdout } = await promisify(execFile)(path ?? '', args, { env, maxBuffer: 32 * 1024 * 1024 })
    return stdout
  }

  it.skipIf(path === undefined)(
    'takes over a release of another chart with --reuse-values (skipped without helm)',
    async () => {
      const other = join(folder, 'other')
      await mkdir(join(other, 'templates'), { recursive: true })
      await writeFile(
        join(other, 'Chart.yaml'),
        stringify({ apiVersion: 'v2', name: 'dynatrace-operator', version: '1.8.1' }),
      )
      await writeFile(join(other, 'values.yaml'), stringify(VALUES_OF_OTHERS))
      await writeFile(join(other, 'user.yaml'), stringify(VALUES_OF_USER))
      const name = 'dynatrace-operator'
      const namespace = await cluster.createNamespace()
      const inNamespace = ['-n', namespace]
      await helm('install', name, other, ...inNamespace, '-f', join(other, 'user.yaml'))

      const printed = await helm('upgrade', name, CHART, ...inNamespace, '--reuse-values')
      expect(printed).toContain('operator.limits.memory: 128Mi')
      const { requests, limits } = VALUES_OF_OTHERS.operator
      const { spec } = await client.get(Deployments, { namespace, name: 'dynatrace-operator' })
      const [container] = spec?.template.spec?.containers ?? []
      expect(container?.resources).toEqual({ requests, limits })
      expect(container?.env).toContainEqual({ name: 'LOG_LEVEL', value: 'debug' })
      const driver = await client.get(DaemonSets, { namespace, name: 'dynatrace-oneagent-csi-driver' })
      expect(JSON.stringify(driver)).toContain('"name":"CLEANUP_PERIOD","value":"1h"')

      // What only this chart has can be set then, and is kept by another upgrade.
      await helm('upgrade', name, CHART, ...inNamespace, '--reuse-values', '--set', 'networkPolicy.enabled=true')
      await helm('upgrade', name, CHART, ...inNamespace, '--reuse-values', '--set', 'webhook.requests.memory=100Mi')
      expect(await helm('get', 'manifest', name, ...inNamespace)).toContain('kind: NetworkPolicy')
      await helm('uninstall', name, ...inNamespace)
    },
  )
})

describe.skipIf((await helmsToTry())[0]?.path === undefined)('resources of the chart (skipped without helm)', () => {
  it('are accepted by the API server, whichever of requests and limits is set', async () => {
    const namespace = await cluster.createNamespace()
    const quantities = {
      memory: ['1Mi', '70M', '0.1Gi', '123456Ki', '200000000', '1e9', '3e+8', '1.5Gi', '268435456000m', '0'],
      cpu: ['1', '0.07', '100m', '2500000u', '1e-1', '0'],
    }
    const groups = ['operator', 'webhook', ...['csiInit', 'server', 'provisioner', 'registrar'].map(csi)]
    const setting = fc.record({
      group: fc.constantFrom(...groups, csi('livenessprobe')),
      field: fc.constantFrom('requests', 'limits'),
      resource: fc.constantFrom(
        ...Object.entries(quantities).flatMap(([name, values]) => values.map((value) => `${name}=${value}`)),
      ),
    })
    const settings = fc.uniqueArray(setting, {
      // Of every group memory and CPU.
      minLength: 2 * (groups.length + 1),
      // Only one of the two.
      selector: ({ group, resource }) => `${group}.${resource.split('=')[0]}`,
    })
    await fc.assert(
      fc.asyncProperty(settings, async (chosen) => {
        const sets = chosen.map(({ group, field, resource }) => `${group}.${field}.${resource}`)
        const objects = await renderChart(namespace, ['installCRD=false', 'csidriver.separateSidecars=true', ...sets])
        const workloads = objects.filter(({ kind }) => ['DaemonSet', 'Deployment', 'Job'].includes(kind))
        expect(workloads).toHaveLength(4)
        for (const object of workloads) {
          await client.apply(await client.resourceFor(object), object, { dryRun: true, fieldValidation: 'Strict' })
        }
      }),
      { numRuns: 6 },
    )
  })
})

function csi(container: string): string {
  return `csidriver.${container}.resources`
}
