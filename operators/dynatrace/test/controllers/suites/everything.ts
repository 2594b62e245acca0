/** A DynaKube with every feature: created, changed, settled. */
import { ConfigMaps, EndpointSlices, Namespaces, Pods, Secrets, StatefulSets } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { EXAMPLE_TEMPLATES } from '../../../src/api/testing/full-spec.ts'
import { INSTANCE_LABEL } from '../../../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { FIXED_NAMES } from '../../../src/index.ts'
import type { ControllersStage } from '../../support/controllers-stage.ts'

const EVERYTHING = [
  'ConfigMap/dynatrace-otlp-api-endpoint',
  'ConfigMap/full-activegate-connection-info',
  'ConfigMap/full-deployment-metadata',
  'ConfigMap/full-oneagent-connection-info',
  'ConfigMap/full-telemetry-collector-config',
  'DaemonSet/full-node-config-collector',
  'DaemonSet/full-oneagent',
  'Deployment/full-sql-ext-exec-oracle',
  'Secret/full-activegate-authtoken-secret',
  'Secret/full-activegate-tenant-secret',
  'Secret/full-activegate-tls-secret',
  'Secret/full-bootstrapper-certs',
  'Secret/full-bootstrapper-config',
  'Secret/full-extension-controller-tls',
  'Secret/full-extensions-token',
  'Secret/full-kspm-token',
  'Secret/full-oneagent-tenant-secret',
  'Secret/full-pull-secret',
  'Service/full-activegate',
  'Service/full-extension-controller',
  'Service/full-telemetry-ingest',
  'StatefulSet/full-activegate',
  'StatefulSet/full-extension-controller',
  'StatefulSet/full-otel-collector',
]

/** The suite; `at` gives the stage once it is set. */
export function everythingSuite(at: () => ControllersStage): void {
  let uid: string
  let team: string
  /** The label of namespaces that get code modules and metadata. */
  const label = () => `shop-${at().namespace}`

  const names = async () => [...(await at().owned(uid)).keys()].sort()

  /** Which objects were replaced, added or deleted. */
  async function changedBy(action: () => Promise<unknown>): Promise<readonly string[]> {
    const before = await at().owned(uid)
    await action()
    const after = await at().owned(uid)
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter((name) => before.get(name) !== after.get(name))
      .sort()
  }

  describe('a DynaKube with everything', () => {
    it('gets all its objects and runs once all its pods do', async () => {
      const { client, namespace, placement } = at()
      team = await at().addTeam(label())
      await at().addNode('a')
      await at().addNode('b')
      const namespaceSelector = { matchLabels: { team: label() } }
      const created = await at().create('full', {
        oneAgent: { cloudNativeFullStack: { ...placement, namespaceSelector } },
        metadataEnrichment: { enabled: true, namespaceSelector },
        activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] },
        extensions: { prometheus: {}, databases: [{ id: 'oracle' }] },
        telemetryIngest: {},
        kspm: { mappedHostPaths: ['/etc'] },
        logMonitoring: {},
        templates: {
          ...EXAMPLE_TEMPLATES,
          kspmNodeConfigurationCollector: { ...EXAMPLE_TEMPLATES.kspmNodeConfigurationCollector, ...placement },
        },
      })
      uid = created.metadata.uid
      await at().until('the phase Running', at().hasPhase('full', 'Running'))
      expect(await names()).toEqual(EVERYTHING)
      const { status } = await at().read('full')
      expect(status?.conditions?.filter((one) => one.status !== 'True')).toEqual([])
      const { items: pods } = await client.list(Pods, { namespace })
      const agents = pods.filter(({ metadata }) => metadata.name.startsWith('full-oneagent-'))
      expect(agents.map(({ spec }) => spec?.nodeName).sort()).toEqual([`${namespace}-a`, `${namespace}-b`])
    })

    it('has a Service whose ports lead to what its gateways listen on', async () => {
      const { client, namespace } = at()
      const slices = async () => {
        const labelSelector = 'kubernetes.io/service-name=full-activegate'
        return (await client.list(EndpointSlices, { namespace, labelSelector })).items
      }
      // A cluster sends to what is listed as ready, on the port that the name stands for.
      await at().until('a gateway that is ready', async () =>
        (await slices()).some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready)),
      )
      const ports = (await slices()).flatMap((slice) => slice.ports ?? [])
      expect(Object.fromEntries(ports.map(({ name, port }) => [name, port]))).toEqual({ https: 9999, http: 9998 })
    })

    it('gives the namespaces it selects what their pods will read', async () => {
      const { client, exists } = at()
      expect((await client.get(Namespaces, { name: team })).metadata.labels).toMatchObject({ [INSTANCE_LABEL]: 'full' })
      expect(await exists(Secrets, team, FIXED_NAMES.bootstrapperConfig)).toBe(true)
      const late = await at().addTeam(label())
      await at().until('a namespace that came later', () => exists(Secrets, late, FIXED_NAMES.bootstrapperConfig))
    })

    it('costs no write once it runs', async () => {
      await at().settle('full')
      expect(await at().reconcile('full')).toEqual([])
    })

    it('changes only what an edit concerns', async () => {
      const { client, namespace } = at()
      const replicas = async () =>
        (await client.get(StatefulSets, { namespace, name: 'full-activegate' })).spec?.replicas
      const scaled = await changedBy(async () => {
        await at().edit('full', { activeGate: { replicas: 2 } })
        await at().until('two gateways', async () => (await replicas()) === 2)
        await at().until('both to run', at().hasPhase('full', 'Running'))
        await at().settle('full')
      })
      expect(scaled).toEqual(['StatefulSet/full-activegate'])
      const config = 'full-telemetry-collector-config'
      const before = (await client.get(ConfigMaps, { namespace, name: config })).data
      const narrowed = await changedBy(async () => {
        await at().edit('full', { telemetryIngest: { protocols: ['otlp'] } })
        await at().until('another configuration', async () => {
          const { data } = await client.get(ConfigMaps, { namespace, name: config })
          return JSON.stringify(data) !== JSON.stringify(before)
        })
        await at().settle('full')
      })
      expect(narrowed).toEqual([
        'ConfigMap/full-telemetry-collector-config',
        'Service/full-telemetry-ingest',
        'StatefulSet/full-otel-collector',
      ])
    })

    it('reverts manual changes and deletions', async () => {
      const { client, namespace, exists } = at()
      const gateway = { namespace, name: 'full-activegate' }
      await client.patch(StatefulSets, gateway, { type: 'merge', patch: { spec: { replicas: 7 } } })
      await at().until('two gateways', async () => (await client.get(StatefulSets, gateway)).spec?.replicas === 2)
      await client.delete(ConfigMaps, { namespace, name: 'full-deployment-metadata' })
      await at().until('the ConfigMap', () => exists(ConfigMaps, namespace, 'full-deployment-metadata'))
    })

    it('removes only what is disabled', async () => {
      const gone = ['extension', 'sql-ext', 'telemetry', 'otel', 'otlp', 'kspm', 'node-config']
      const kept = EVERYTHING.filter((name) => !gone.some((part) => name.includes(part)))
      await at().edit('full', { extensions: null, telemetryIngest: null, kspm: null })
      // Gateways that no longer keep telemetry need no storage: their StatefulSet is recreated.
      await at().until('only what is kept', async () => JSON.stringify(await names()) === JSON.stringify(kept))
      await at().until('the phase Running', at().hasPhase('full', 'Running'))
    })
  })
}
