import { crdManifest, defineCrd } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  createClient,
  Events,
  type KubeClient,
  Namespaces,
  Nodes,
  Secrets,
  ServiceAccounts,
} from '@reeve/kube'
import { defineOperator, desired, watch } from '@reeve/runtime'
import { Cache, type Transform } from '@reeve/runtime/cache'
import { ComponentEngine } from '@reeve/runtime/components'
import { Controller, type ControllerOptions } from '@reeve/runtime/controller'
import { missingRights, OperatorDefinitionError } from '@reeve/runtime/operator'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const v1 = { spec: Type.Object({ text: Type.String() }), status: Type.Object({ said: Type.Optional(Type.String()) }) }
const NoteCrd = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1 },
})
const Notes = NoteCrd.resource('v1')
const labels = { app: 'notes' }
const owns = [{ resource: ConfigMaps, labelSelector: 'app=notes' }]
const withoutManagedFields: Transform = (object) => {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
const key = { namespace: 'default', name: 'n' }

const notes = defineOperator({
  name: 'notes',
  controllers: [
    {
      for: Notes,
      owns,
      render: ({ metadata: { name, namespace }, spec }) => {
        if (spec.text === 'bad') throw new Error('spec.text: "bad" cannot be said')
        return [desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { text: spec.text } })]
      },
      report: ({ primary: { spec, status }, failure }) => ({ status: failure ? status : { said: spec.text } }),
    },
  ],
})

let clock: SimulatedClock
let cluster: EmbeddedCluster
let client: KubeClient
let stop: AbortController

beforeEach(async () => {
  clock = new SimulatedClock()
  cluster = await startEmbeddedCluster({ listen: false, clock })
  client = createClient({ clock, transport: cluster.transport })
  await client.create(CustomResourceDefinitions, crdManifest(NoteCrd))
  stop = new AbortController()
})
afterEach(() => cluster.stop())

const declare = (text: string) =>
  client.create(Notes, { apiVersion: 'example.com/v1', kind: 'Note', metadata: key, spec: { text } })
const say = (text: string) => client.patch(Notes, key, { type: 'merge', patch: { spec: { text } } })

describe('an operator', () => {
  it('follows from its definition: renders, reports, heals a lost label, and rests', async () => {
    const running = notes.create({ client, clock }).manager.run(stop.signal)
    await declare('hi')
    await clock.advance(5_000)
    expect((await client.get(Notes, key)).status).toEqual({ said: 'hi' })
    await client.patch(ConfigMaps, key, { type: 'merge', patch: { metadata: { labels: { app: null } } } })
    await clock.advance(60_000)
    await say('hello')
    await clock.advance(5_000)
    const { metadata, data } = await client.get(ConfigMaps, key)
    expect([metadata.labels, data]).toEqual([labels, { text: 'hello' }])
    const { writes } = cluster.requests
    await clock.advance(36_000_000)
    expect(cluster.requests.writes).toBe(writes)
    stop.abort()
    await clock.runToCompletion(running)
  })

  it('records one Warning event for a failing reconcile, however often it is retried', async () => {
    const running = notes.create({ client, clock }).manager.run(stop.signal)
    await declare('bad')
    await clock.advance(300_000)
    const { items } = await client.listAll(Events)
    expect(items.map(({ type, reason, message, count }) => ({ type, reason, message, count }))).toEqual([
      { type: 'Warning', reason: 'ReconcileFailed', message: 'spec.text: "bad" cannot be said', count: 1 },
    ])
    await say('fine')
    await clock.advance(5_000)
    await say('bad')
    await clock.advance(5_000)
    expect((await client.listAll(Events)).items.map(({ count }) => count)).toEqual([2])
    stop.abort()
    await clock.runToCompletion(running)
  })

  it('is told which kind owns lacks when it renders one that it does not watch', async () => {
    const forgetful = defineOperator({
      name: 'notes',
      controllers: [{ for: Notes, owns, render: ({ metadata }) => [desired(ServiceAccounts, { metadata })] }],
    })
    const { manager, controllers } = forgetful.create({ client, clock })
    const running = manager.run(stop.signal)
    await declare('hi')
    await clock.advance(5_000)
    expect(controllers[0].records.at(-1)?.error).toBe(
      'ServiceAccount default/n is rendered, but owns lacks serviceaccounts: add it',
    )
    stop.abort()
    await clock.runToCompletion(running)
  })

  it('needs the rights that its controllers use, and no others', () => {
    const { clusterRole, roles } = notes.rbac({ namespace: 'ops' })
    expect(clusterRole.rules).toEqual([
      { apiGroups: ['example.com'], resources: ['notes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['example.com'], resources: ['notes/status', 'notes/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ])
    expect(roles.map(({ metadata, rules }) => [metadata.namespace, rules?.length])).toEqual([['ops', 2]])
    const granted = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
    expect(missingRights([{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] }], granted)).toEqual([
      'patch configmaps',
    ])
  })

  it('needs rights in single namespaces for what it watches there', () => {
    const watches = [watch({ resource: Secrets, namespace: 'shop', map: () => [] })]
    const { roles } = defineOperator({ name: 'o', controllers: [{ for: Notes, watches, render: () => [] }] }).rbac()
    expect(roles.find(({ metadata }) => metadata.namespace === 'shop')?.rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
    ])
  })

  it('needs rights only in the namespaces that it is limited to, except for cluster-scoped kinds', () => {
    const watches = [watch({ resource: Namespaces, map: () => [] })]
    const rules = [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] }]
    const controllers = [{ for: Notes, owns: [ConfigMaps], watches, render: () => [] }] as const
    const operator = defineOperator({ name: 'o', controllers, rules })
    const webhook = { secret: 'tls', configurations: ['o'] }
    const options = { namespace: 'ops', webhook, protectsMetrics: true }
    const everywhere = operator.rbac(options)
    const { clusterRole, roles } = operator.rbac({ ...options, namespaces: ['shop', 'ops', 'shop'] })
    expect(clusterRole.rules?.flatMap(({ resources }) => resources)).toEqual([
      'namespaces',
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
      'serviceaccounts',
      'tokenreviews',
      'subjectaccessreviews',
    ])
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['ops', 'shop'])
    const [ops, shop] = roles.map((role) => role.rules ?? [])
    // Together they have what the wider form has, and the operator's own namespace has both.
    expect(missingRights(everywhere.clusterRole.rules ?? [], [...(clusterRole.rules ?? []), ...(shop ?? [])])).toEqual(
      [],
    )
    expect(missingRights([...(everywhere.roles[0]?.rules ?? []), ...(shop ?? [])], ops ?? [])).toEqual([])
  })

  it('needs the rights that its definition adds, each where it says', () => {
    const anywhere = { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] }
    const inShop = { apiGroups: [''], resources: ['secrets'], resourceNames: ['login'], verbs: ['get'] }
    const rules = [anywhere, { ...inShop, namespace: 'shop' }]
    const controllers = [{ for: Notes, render: () => [] }] as const
    const { clusterRole, roles } = defineOperator({ name: 'o', controllers, rules }).rbac()
    expect(clusterRole.rules).toContainEqual(anywhere)
    expect(roles.map(({ metadata, rules }) => [metadata.namespace, rules])).toEqual([
      ['default', expect.not.arrayContaining([inShop])],
      ['shop', [inShop]],
    ])
  })

  it('needs rights by name on what it selects by name, and only to patch what belongs to others', () => {
    const { clusterRole } = defineOperator({
      name: 'o',
      lease: 'o-lock',
      controllers: [
        {
          for: Notes,
          reads: ['first', 'second'].map((name) => ({ resource: Secrets, fieldSelector: `metadata.name=${name}` })),
          watches: [watch({ resource: Namespaces, map: () => [] })],
          elsewhere: [
            { resource: Secrets, label: 'note', labelValue: ({ name }) => name },
            { resource: Namespaces, label: 'note', labelValue: ({ name }) => name, release: () => ({}) },
          ],
          render: () => [],
        },
      ],
    }).rbac()
    expect(clusterRole.rules?.slice(2, 5)).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'patch'] },
      {
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['get', 'list', 'watch', 'patch', 'delete'],
        resourceNames: ['first', 'second'],
      },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ])
  })

  it('needs for a function of its own what it caches, and the Lease that it names', () => {
    const reconcile = async () => undefined
    const { clusterRole, roles } = defineOperator({
      name: 'o',
      lease: 'o-lock',
      controllers: [{ for: Notes, reads: [Nodes], reconcile, failureEvents: false }],
    }).rbac()
    expect(clusterRole.rules).toEqual([
      { apiGroups: ['example.com'], resources: ['notes'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
    ])
    expect(roles[0]?.rules?.[1]?.resourceNames).toEqual(['o-lock'])
  })

  it('checks a resource before each reconcile, and records events under the name of the controller', async () => {
    const checkedNames: (string | undefined)[] = []
    const { manager } = defineOperator({
      name: 'notes',
      controllers: [
        {
          for: Notes,
          eventSource: 'note-controller',
          before: async ({ object }) => {
            checkedNames.push(object?.metadata.name)
            throw new Error('the CRD is of another release')
          },
          render: () => [],
        },
      ],
    }).create({ client, clock })
    const running = manager.run(stop.signal)
    await declare('hi')
    await clock.advance(500)
    const { items } = await client.listAll(Events)
    expect(items.map(({ message, source }) => [message, source?.component])).toEqual([
      ['the CRD is of another release', 'note-controller'],
    ])
    await client.delete(Notes, key)
    await clock.advance(300_000)
    expect(new Set(checkedNames)).toEqual(new Set(['n']))
    stop.abort()
    await clock.runToCompletion(running)
  })

  it('is rejected when its definition is invalid', () => {
    const render = () => []
    expect(() => defineOperator({ name: 'My Operator', controllers: [] })).toThrow(OperatorDefinitionError)
    const twice = [
      { for: Notes, render },
      { for: Notes, render },
    ] as const
    expect(() => defineOperator({ name: 'notes', controllers: twice })).toThrow('two controllers have the name "note"')
  })
})

describe('an engine that a reconcile function calls', () => {
  const engine = new ComponentEngine({
    resource: Notes,
    owned: [ConfigMaps],
    fieldManager: 'notes',
    components: [
      {
        name: 'text',
        render: ({ primary: { metadata, spec } }) => [
          desired(ConfigMaps, { metadata: { ...key, name: metadata.name, labels }, data: { text: spec.text } }),
        ],
      },
    ],
  })
  // Not passed as the engine, so that the controller does not know it.
  const wrapped = { for: Notes, owns, reconcile: engine.reconcile }

  it('writes nothing in steady state when the operator is defined', async () => {
    const operator = defineOperator({ name: 'notes', controllers: [wrapped] })
    const running = operator.create({ client, clock }).manager.run(stop.signal)
    await declare('hi')
    await clock.advance(5_000)
    const { writes } = cluster.requests
    await clock.advance(36_000_000)
    expect((await client.get(ConfigMaps, key)).data).toEqual({ text: 'hi' })
    expect(cluster.requests.writes).toBe(writes)
    stop.abort()
    await clock.runToCompletion(running)
  })

  it('writes nothing in steady state either when a transform drops managedFields', async () => {
    const reduced = owns.map((source) => ({ ...source, transform: withoutManagedFields }))
    const operator = defineOperator({ name: 'notes', controllers: [{ ...wrapped, owns: reduced }] })
    const running = operator.create({ client, clock }).manager.run(stop.signal)
    await declare('hi')
    await clock.advance(5_000)
    const { writes } = cluster.requests
    await clock.advance(36_000_000)
    expect((await client.get(ConfigMaps, key)).data).toEqual({ text: 'hi' })
    expect(cluster.requests.writes).toBe(writes)
    stop.abort()
    await clock.runToCompletion(running)
  })

  it('fails with the remedy when its cache drops what the engine compares', async () => {
    const cache = new Cache(client, { clock })
    const records: (string | undefined)[] = []
    const made = new Controller(
      { name: 'note', ...wrapped, onReconcile: ({ error }) => void records.push(error) },
      { cache, client, clock },
    )
    const running = Promise.all([cache.run(stop.signal), made.run(stop.signal)])
    await declare('hi')
    await clock.advance(5_000)
    expect(records[0]).toMatch(
      "the cache keeps the managedFields of nobody, but components compare those of notes: create it with new Cache(client, { fieldManager: 'notes' })",
    )
    stop.abort()
    await clock.runToCompletion(running)
  })
})

describe('a controller that the engine reconciles for', () => {
  const build = (owns: ControllerOptions<never>['owns']) => {
    const engine = new ComponentEngine({
      resource: Notes,
      owned: [ConfigMaps],
      fieldManager: 'notes',
      components: [{ name: 'a' }],
    })
    const options = { name: 'note', for: Notes, owns, engine, reconcile: engine.reconcile }
    return new Controller(options, { cache: new Cache(client, { clock }), client })
  }

  it('is rejected when a rendered kind is not cached', () => {
    expect(() => build([])).toThrow('its components render configmaps')
  })
})
