/** A plan on the embedded or a real cluster: dry runs of the real API server agree with the rehearsal. */
import { type KubeObject, type Resource, Secrets, type Service } from '@reeve/kube'
import { KNOWN_AFTER_APPLY } from '@reeve/plan'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DynaKubeSpec, DynaKubes } from '../../src/api/latest.ts'
import { OWNED } from '../../src/controllers/dynakube/controller.ts'
import { readClusterState } from '../../src/plan/cluster-state.ts'
import { FILES } from '../../src/plan/components-of.ts'
import { makePlan, type Plan } from '../../src/plan/plan.ts'
import { type ControllersStage, setControllersStage, TRUST } from '../support/controllers-stage.ts'
import { PATIENCE_MS } from '../support/until.ts'
import { errorsOf, idOf, shown } from './support/plan-stage.ts'

const NAME = 'planned'

let stage: ControllersStage
let team: string

beforeAll(async () => {
  stage = await setControllersStage([NAME])
  team = await stage.addTeam(stage.namespace)
}, PATIENCE_MS)
afterAll(() => stage?.[Symbol.asyncDispose](), PATIENCE_MS)

/** Touches namespaces of this test only: other tests use the cluster as well. */
const spec = (): Partial<DynaKubeSpec> => {
  const namespaceSelector = { matchLabels: { team: stage.namespace } }
  return {
    oneAgent: { cloudNativeFullStack: { ...stage.placement, namespaceSelector } },
    activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] },
    metadataEnrichment: { enabled: true, namespaceSelector },
    telemetryIngest: {},
    templates: { otelCollector: { imageRef: { repository: 'registry.example.com/otelc', tag: '1.2.3' } } },
  }
}

async function plan(wanted: Partial<DynaKubeSpec>): Promise<Plan> {
  const { client, namespace, simulator } = stage
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const { objects, ...facts } = await readClusterState(client, [namespace], { signal })
  const file = {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace, name: NAME },
    spec: { apiUrl: simulator.url(NAME), tokens: `${NAME}-tokens`, trustedCAs: TRUST, ...wanted },
  }
  return makePlan({
    ...facts,
    files: [file],
    state: objects,
    operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
    detectsHostAvailability: true,
    exits: stage.exits,
    cluster: client,
    signal,
  })
}

/** What there is in the namespaces of this test. */
async function everything(): Promise<ReadonlyMap<string, KubeObject>> {
  const { client, namespace } = stage
  const list = async (resource: Resource, where: string) =>
    (await client.listAll(resource, { namespace: where })).items.map((item) => ({ ...item, kind: resource.kind }))
  const lists = await Promise.all([...OWNED.map((kind: Resource) => list(kind, namespace)), list(Secrets, team)])
  return new Map(lists.flat().map((object) => [idOf({ kind: object.kind, ...object.metadata }), object]))
}

describe('a plan', () => {
  it('creates what the operator then creates, field by field', async () => {
    const before = await everything()
    const made = await plan(spec())
    expect(errorsOf(made)).toEqual([])
    expect(made.findings.map(({ message }) => message).filter((message) => message.includes('dry run'))).toEqual([])
    await stage.create(NAME, spec())
    // As `kubectl apply` does.
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec: spec() }) }
    await stage.client.patch(
      DynaKubes,
      { namespace: stage.namespace, name: NAME },
      { type: 'merge', patch: { metadata: { annotations } } },
    )
    await stage.until('a phase', async () => ((await stage.read(NAME)).status?.phase ?? '') !== '')
    await stage.settle(NAME)
    const after = await everything()
    const creations = made.changes.filter(({ action, component }) => action === 'create' && component !== FILES)
    const created = [...after.keys()].filter((id) => !before.has(id) && !id.endsWith('/dynatrace-node-cache'))
    expect(creations.map(idOf).sort()).toEqual(created.sort())
    const { kubernetesClusterMEID = 'none' } = (await stage.read(NAME)).status ?? {}
    const services = [...after.values()].filter(({ kind }) => kind === 'Service') as readonly Service[] // by kind
    const unknown = [kubernetesClusterMEID, ...services.flatMap((service) => service.spec?.clusterIPs ?? [])]
    for (const { manifest, ...change } of creations) {
      const text = JSON.stringify(shown(after.get(idOf(change))))
      const real = JSON.parse(unknown.reduce((all, one) => all.replaceAll(one, KNOWN_AFTER_APPLY), text))
      expect([idOf(change), manifest]).toEqual([idOf(change), real])
    }
  })

  it('has no changes once the operator is done', async () => {
    const { changes, tenant } = await plan(spec())
    expect([changes, tenant]).toEqual([[], []])
  })

  it('changes what an edit is about', async () => {
    const activeGate = { capabilities: ['routing', 'kubernetes-monitoring'], replicas: 2 }
    const { changes } = await plan({ ...spec(), activeGate })
    expect(changes.map(({ action, kind, name, fields }) => [action, kind, name, fields])).toEqual([
      ['change', 'DynaKube', NAME, [{ path: 'spec.activeGate.replicas', after: 2 }]],
      ['change', 'StatefulSet', `${NAME}-activegate`, [{ path: 'spec.replicas', before: 1, after: 2 }]],
    ])
  })

  it('removes and replaces what the operator then removes and replaces', async () => {
    const { telemetryIngest: _off, ...rest } = spec()
    const { changes } = await plan(rest)
    const ids = (action: string) => changes.filter((change) => change.action === action).map(idOf)
    const before = await everything()
    await stage.edit(NAME, { telemetryIngest: null })
    const gateway = `StatefulSet/${stage.namespace}/${NAME}-activegate`
    // It is recreated by the reconcile after the one that removes it.
    await stage.until('another StatefulSet', async () => {
      const { uid } = (await everything()).get(gateway)?.metadata ?? {}
      return uid !== undefined && uid !== before.get(gateway)?.metadata.uid
    })
    await stage.settle(NAME)
    const after = await everything()
    const isReplaced = (id: string) => after.has(id) && after.get(id)?.metadata.uid !== before.get(id)?.metadata.uid
    expect(ids('remove').sort()).toEqual([...before.keys()].filter((id) => !after.has(id)).sort())
    expect(ids('replace').sort()).toEqual([...before.keys()].filter(isReplaced).sort())
    // Without telemetry gateways need no volume, and claims of a StatefulSet cannot be changed.
    expect(ids('replace')).toEqual([gateway])
  })
})
