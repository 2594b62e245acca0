/** A plan against a cluster in which the operator runs: it says what the operator then does, and does none of it. */
import {
  createClient,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type Service,
  type TransportRequest,
} from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { readClusterState } from '../../src/plan/cluster-state.ts'
import { FILES } from '../../src/plan/components-of.ts'
import { conceal, essence } from '../../src/plan/conceal.ts'
import { KNOWN_AFTER_APPLY } from '../../src/plan/placeholders.ts'
import { makePlan, type Plan } from '../../src/plan/plan.ts'
import { PLANNED_KINDS } from '../../src/plan/scratch-cluster.ts'
import { hasChanges, summaryOf } from '../../src/plan/summary.ts'
import { networkExits } from '../../src/plan/world.ts'
import { NAMESPACE, type Stage, setStage, tokensOf } from '../dynakube/support/stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await setStage(['full', 'small'], { selfSigned: quickCertificate })
  await stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
})
afterAll(() => stage?.[Symbol.asyncDispose]())

/** Keys as the operator makes them take seconds. */
const quickCertificate = async () => ({ certificate: stage.environment.caCertificate, privateKey: 'key' })

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })

const FULL = {
  oneAgent: { cloudNativeFullStack: {} },
  activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] },
  extensions: { prometheus: {} },
  telemetryIngest: {},
  kspm: { mappedHostPaths: ['/etc'] },
  logMonitoring: {},
  metadataEnrichment: { enabled: true },
  templates: {
    otelCollector: { imageRef: image('otelc') },
    extensionExecutionController: { imageRef: image('eec') },
    kspmNodeConfigurationCollector: { imageRef: image('ncc') },
  },
} satisfies Partial<DynaKubeSpec>

function dynakube(name: string, spec: Partial<DynaKubeSpec>): KubeObject {
  const { environment } = stage
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: NAMESPACE, name },
    spec: { apiUrl: environment.url(name), tokens: tokensOf(name), trustedCAs: 'environment', ...spec },
  } as KubeObject // the spec is its own
}

/** A client of the same cluster that writes down what it sends. */
function recordingClient(): { readonly client: KubeClient; readonly sent: readonly TransportRequest[] } {
  const sent: TransportRequest[] = []
  const send = (request: TransportRequest) => {
    sent.push(request)
    return stage.cluster.handle(request)
  }
  return { sent, client: createClient({ transport: { send, close: async () => undefined } }) }
}

const SIGNAL = AbortSignal.timeout(300_000)

/** Plans, and makes sure that nothing but questions and dry runs was sent. */
async function plan(files: readonly KubeObject[], withDryRun = true): Promise<Plan> {
  const { client, sent } = recordingClient()
  stage.environment.clearCalls()
  const state = await readClusterState(client, [NAMESPACE], { signal: SIGNAL })
  const made = await makePlan({
    ...state,
    files,
    state: state.objects,
    operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
    detectsHostAvailability: true,
    exits: networkExits({}),
    ...(withDryRun && { cluster: client }),
    signal: SIGNAL,
  })
  const writes = sent.filter(({ method }) => method !== 'GET')
  expect(
    writes.filter(({ path }) => !new URL(path, 'https://cluster').searchParams.getAll('dryRun').includes('All')),
  ).toEqual([])
  if (!withDryRun) expect(writes).toEqual([])
  const calls = stage.environment.calls().filter(({ method }) => method !== 'GET')
  expect(calls.filter(({ operation }) => operation !== 'token-lookup')).toEqual([])
  return made
}

/** Waits until the operator has looked at a DynaKube and found nothing to do. */
async function settled(name: string): Promise<void> {
  const before = stage.records.length
  await stage.look(name)
  await stage.until(`${name} to settle`, () => {
    const last = stage.records.slice(before).findLast(({ key }) => key.name === name)
    return last !== undefined && last.writes.length === 0 && last.error === undefined
  })
}

/** Creates a DynaKube and lets the operator work. */
async function apply(name: string, spec: Partial<DynaKubeSpec>): Promise<void> {
  await stage.create(name, spec)
  await stage.until('a phase', async () =>
    ['Deploying', 'Running'].includes((await stage.read(name)).status?.phase ?? ''),
  )
  await settled(name)
}

const errorsOf = ({ findings }: Plan) => findings.filter(({ severity }) => severity === 'error')

const idOf = ({ kind, namespace = '', name }: { kind: string; namespace?: string; name: string }) =>
  `${kind}/${namespace}/${name}`

/** Kept by other controllers at their own times. */
const OTHERS = ['dynatrace-node-cache', 'kube-root-ca.crt']

/** Everything in the cluster that a plan may speak of. */
async function everything(): Promise<ReadonlyMap<string, KubeObject>> {
  const kinds = PLANNED_KINDS.filter(({ group }) => group !== 'networking.istio.io')
  const lists = await Promise.all(
    kinds.map(async (resource) => {
      const { items } = await stage.client.listAll(resource)
      return items.map((item) => ({ ...item, kind: resource.kind }))
    }),
  )
  const counted = lists.flat().filter(({ metadata }) => !OTHERS.includes(metadata.name ?? ''))
  return new Map(counted.map((object) => [idOf({ kind: object.kind, ...object.metadata }), object]))
}

const shown = (object: KubeObject = { apiVersion: '', kind: 'gone', metadata: {} }) =>
  Object.fromEntries(Object.entries(essence(object)).map(([name, value]) => [name, conceal(object.kind, name, value)]))

/** Shows objects of the cluster with what no plan can know blotted out. */
async function unfilled(objects: ReadonlyMap<string, KubeObject>, name: string) {
  const { kubernetesClusterMEID: entity = '' } = (await stage.read(name)).status ?? {}
  const services = [...objects.values()].filter(({ kind }) => kind === 'Service') as readonly Service[] // by kind
  const addresses = services.flatMap(({ spec }) => spec?.clusterIPs ?? []).filter((address) => address !== 'None')
  return (object: KubeObject | undefined): unknown => {
    const unknown = [...addresses, ...(entity === '' ? [] : [entity])]
    const text = unknown.reduce((all, one) => all.replaceAll(one, KNOWN_AFTER_APPLY), JSON.stringify(shown(object)))
    return JSON.parse(text)
  }
}

describe('a plan for a DynaKube with everything', () => {
  it('creates what the operator then creates, field by field', async () => {
    const before = await everything()
    const made = await plan([dynakube('full', FULL)])
    expect(errorsOf(made)).toEqual([])
    expect(await everything()).toEqual(before)

    await apply('full', FULL)
    const after = await everything()
    const created = [...after.keys()].filter((id) => !before.has(id)).sort()
    const creations = made.changes.filter(({ action }) => action === 'create')
    expect(creations.map(idOf).sort()).toEqual(created)
    const real = await unfilled(after, 'full')
    for (const { manifest, ...change } of creations.filter(({ component }) => component !== FILES)) {
      expect([idOf(change), manifest]).toEqual([idOf(change), real(after.get(idOf(change)))])
    }
  })

  it('tells what would be made in the environment', async () => {
    const { environment } = await plan([dynakube('small', { activeGate: { capabilities: ['kubernetes-monitoring'] } })])
    const host = new URL(stage.environment.url('small')).host
    expect(environment).toEqual([
      { action: 'create', what: 'ActiveGate token small', environment: host },
      { action: 'create', what: 'setting builtin:cloud.kubernetes "small"', environment: host },
    ])
  })

  it.each([true, false])('has no changes once the operator is done (dry run: %s)', async (withDryRun) => {
    const made = await plan([dynakube('full', FULL)], withDryRun)
    expect(made.changes).toEqual([])
    expect(made.environment).toEqual([])
    expect(hasChanges(made)).toBe(false)
    expect(summaryOf(made).unchanged).toBeGreaterThan(20)
  })

  it('changes only what an edit is about', async () => {
    const edited = { ...FULL, oneAgent: { cloudNativeFullStack: { env: [{ name: 'COLOUR', value: 'blue' }] } } }
    const { changes } = await plan([dynakube('full', edited)])
    expect(changes.map(({ action, component, kind }) => [action, component, kind])).toEqual([
      ['change', FILES, 'DynaKube'],
      ['change', 'OneAgent', 'DaemonSet'],
    ])
    expect(changes.flatMap(({ fields }) => fields)).toEqual([
      { path: 'spec.oneAgent.cloudNativeFullStack.env', after: [{ name: 'COLOUR', value: 'blue' }] },
      {
        path: 'spec.template.spec.containers[name=dynatrace-oneagent].env[name=COLOUR]',
        after: { name: 'COLOUR', value: 'blue' },
      },
    ])
  })

  it('removes what the operator then removes', async () => {
    const before = await everything()
    const less = { activeGate: FULL.activeGate, metadataEnrichment: { enabled: false } }
    const made = await plan([dynakube('full', less)])
    expect(errorsOf(made)).toEqual([])
    expect(await everything()).toEqual(before)

    const off = Object.keys(FULL).map((field) => [field, null])
    await stage.edit('full', { spec: { ...Object.fromEntries(off), ...less } })
    await settled('full')
    const after = await everything()
    const ids = (action: string) => made.changes.filter((change) => change.action === action).map(idOf)
    expect(ids('remove').sort()).toEqual([...before.keys()].filter((id) => !after.has(id)).sort())
    expect(ids('remove')).toContain('Secret/shop/dynatrace-bootstrapper-config')
    expect(ids('change')).toContain('Namespace//shop')
    for (const id of ids('change').filter((id) => !id.startsWith('DynaKube/'))) {
      expect([id, shown(after.get(id))]).not.toEqual([id, shown(before.get(id))])
    }
  })
})
