/**
 * An installation of the Dynatrace Operator 1.8.1 that this operator takes over: no pod is replaced, and no object is
 * created again. A pod template that differs in one label restarts agents on every node of a cluster.
 */
import {
  ConfigMaps,
  DaemonSets,
  Deployments,
  type KubeObject,
  Pods,
  type PodTemplateSpec,
  type Resource,
  Secrets,
  Services,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AUTHORITY } from '../../exploration/tenant-world.ts'
import { type DynaKubeSpec, EdgeConnects } from '../../src/api/latest.ts'
import { type ClosedStage, NAMESPACE, setClosedStage } from '../dynakube/support/closed-stage.ts'
import { specWith, USER_SECRETS } from '../dynakube/support/features.ts'
import { FULL } from '../dynakube/support/full-dynakube.ts'
import { KNOWN_EDGE_CONNECT, KNOWN_WORKLOADS, type KnownWorkload } from './known-workloads.ts'

const KINDS: readonly Resource[] = [DaemonSets, StatefulSets, Deployments, ConfigMaps, Secrets, Services]
const HASH = 'internal.operator.dynatrace.com/template-hash'
const MINUTE = 60_000

/** An object with the parts that decide about pods. */
type RolledOut = Stored<KubeObject> & {
  readonly spec?: {
    readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly template?: PodTemplateSpec
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
  }
}
type Objects = ReadonlyMap<string, RolledOut>

let stage: ClosedStage
beforeAll(async () => {
  stage = await setClosedStage({ hasPods: true })
  for (const [name, data] of Object.entries(USER_SECRETS)) await stage.addSecret(name, data)
  await stage.addSecret('login', { 'oauth-client-id': 'dt0s10.X', 'oauth-client-secret': 'dt0s10.X.Y' })
})
afterAll(() => stage?.[Symbol.asyncDispose]())
afterEach(async () => {
  await stage.deleteIfThere()
  await stage.client.deleteCollection(EdgeConnects, { namespace: NAMESPACE })
  await stage.advance(MINUTE)
})

const listed = async <T extends KubeObject>(resource: Resource<T>) =>
  (await stage.client.listAll(resource, { namespace: NAMESPACE })).items

/** What was rolled out for a resource, by kind and name. */
async function rolledOut(): Promise<Objects> {
  const lists = await Promise.all(KINDS.map((kind) => listed(kind)))
  const owned = lists.flat().filter(({ metadata }) => metadata.ownerReferences?.length)
  // Objects of several kinds, of which the spec is read as far as they have it.
  return new Map(owned.map((object) => [`${object.kind} ${object.metadata.name}`, object as RolledOut]))
}

/** Writes the objects as another operator leaves them: by a program of another name, with hashes of its own. */
async function writeAsAnotherOperator(): Promise<void> {
  for (const kind of KINDS) {
    for (const object of await listed(kind)) {
      if (!object.metadata.ownerReferences?.length) continue
      const foreign = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => !key.startsWith('reeve.dev/'))
      const annotations = { ...Object.fromEntries(foreign), [HASH]: '1234567890' }
      const metadata = { ...object.metadata, annotations, managedFields: [{}] }
      await stage.client.update(kind, { ...object, metadata }, { fieldManager: 'operator' })
    }
  }
}

const uidsOf = (objects: Iterable<Stored<KubeObject>>) =>
  [...objects].map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`).toSorted()
const podsOf = async () => uidsOf(await listed(Pods))
const specsOf = (objects: Objects) => new Map([...objects].map(([name, { spec }]) => [name, spec]))

/** The facts about workloads that {@link KNOWN_WORKLOADS} has. */
function workloadsOf(objects: Objects): Readonly<Record<string, KnownWorkload>> {
  const facts = [...objects].flatMap(([name, { spec }]): [string, KnownWorkload][] => {
    const { selector, template, volumeClaimTemplates = [] } = spec ?? {}
    if (template === undefined) return []
    const selected = selector?.matchLabels ?? {}
    const others = Object.entries(template.metadata?.labels ?? {}).filter(([key]) => !(key in selected))
    const labels = others.map(([key, value]) => [key, key.endsWith('/version') ? null : value])
    const names = (containers: readonly { readonly name: string }[] = []) => containers.map((one) => one.name)
    return [
      [
        name,
        {
          selector: selected,
          labels: Object.fromEntries(labels),
          annotations: Object.keys(template.metadata?.annotations ?? {}).toSorted(),
          initContainers: names(template.spec?.initContainers),
          containers: names(template.spec?.containers),
          account: template.spec?.serviceAccountName ?? '',
          claims: volumeClaimTemplates.map(({ metadata }) => metadata.name),
        },
      ],
    ]
  })
  return Object.fromEntries(facts)
}

/** Has another operator write everything, and this one start again; returns the objects before. */
async function takeOver(): Promise<{ readonly objects: Objects; readonly pods: readonly string[] }> {
  await stage.settle()
  stage.kill()
  await writeAsAnotherOperator()
  const before = { objects: await rolledOut(), pods: await podsOf() }
  expect(before.pods.length).toBeGreaterThan(0)
  stage.start()
  await stage.settle()
  // Longer than any threshold of requests to the tenant.
  await stage.advance(20 * MINUTE)
  await stage.settle()
  return before
}

async function expectTakenOver(before: Awaited<ReturnType<typeof takeOver>>): Promise<void> {
  expect(await podsOf()).toEqual(before.pods)
  const after = await rolledOut()
  expect(uidsOf(after.values())).toEqual(uidsOf(before.objects.values()))
  expect(specsOf(after)).toEqual(specsOf(before.objects))
  // An operator that does nothing would replace no pod either: it did write its own hashes.
  const workloads = [...after.values()].filter(({ spec }) => spec?.template !== undefined)
  expect(workloads.filter(({ metadata }) => metadata.annotations?.[HASH] === '1234567890')).toEqual([])
}

const CASES: readonly (readonly [keyof typeof KNOWN_WORKLOADS, Partial<DynaKubeSpec>])[] = [
  ['everything', FULL],
  ['classicFullStack', specWith('classicFullStack', ['routing', 'kubernetes-monitoring'])],
  ['hostMonitoring', specWith('hostMonitoring', ['routing', 'dynatrace-api', 'a network zone'])],
  ['applicationMonitoring', specWith('applicationMonitoring', ['metrics-ingest', 'a claim of gateways'])],
  ['logs', specWith('none', ['log monitoring', 'kubernetes-monitoring'])],
]

describe('taking over a DynaKube', () => {
  it.each(CASES)('with %s replaces no pod and no object', async (mode, spec) => {
    await stage.create(spec)
    await stage.untilPhase('Running')
    const before = await takeOver()
    await expectTakenOver(before)
    const sorted = Object.entries(KNOWN_WORKLOADS[mode]).map(([name, known]: [string, KnownWorkload]) => [
      name,
      { ...known, annotations: known.annotations.toSorted() },
    ])
    expect(workloadsOf(before.objects)).toEqual(Object.fromEntries(sorted))
  })
})

describe('taking over an EdgeConnect', () => {
  it('replaces no pod and no object', async () => {
    await stage.client.create(EdgeConnects, {
      apiVersion: 'dynatrace.com/v1alpha2',
      kind: 'EdgeConnect',
      metadata: { namespace: NAMESPACE, name: 'office' },
      spec: {
        apiServer: AUTHORITY,
        oauth: {
          clientSecret: 'login',
          endpoint: `https://${AUTHORITY}/token`,
          resource: 'urn:dtenvironment:abc12345',
        },
        imageRef: { repository: 'registry.example.com/edgeconnect', tag: '1' },
        // A registry is not called.
        autoUpdate: false,
      },
    })
    await stage.until(async () => (await listed(EdgeConnects))[0]?.status?.phase === 'Running')
    const before = await takeOver()
    await expectTakenOver(before)
    expect(workloadsOf(before.objects)).toEqual(KNOWN_EDGE_CONNECT)
  })
})
