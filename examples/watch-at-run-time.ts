/** How do I watch a kind that may be installed later? With a watch that a reconcile starts and stops. */
import { strictEqual } from 'node:assert'
import { crdManifest, defineCrd, type ObjectOf } from '@reeve/crd'
import { CustomResourceDefinitions, resource } from '@reeve/kube'
import { type Component, defineOperator } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Type } from 'typebox'
import { Notes, note, noteManifest } from './support/note.ts'

const v1 = {
  spec: Type.Object({
    kind: Type.String({ description: 'What to count.' }),
    plural: Type.String(),
  }),
  status: Type.Object({ count: Type.Optional(Type.Integer()) }),
}
const CounterCrd = defineCrd({
  group: 'example.com',
  kind: 'Counter',
  plural: 'counters',
  scope: 'Namespaced',
  versions: { v1 },
})
const Counters = CounterCrd.resource('v1')

/** Keeps the number of objects of the kind in the status. */
const count: Component<ObjectOf<typeof v1>, number> = {
  name: 'count',
  async resolve({ primary: { spec }, key, cache, watches, signal }) {
    const { kind, plural } = spec
    const counted = resource({ group: 'example.com', version: 'v1', kind, plural, namespaced: true })
    // Called in each reconcile: it starts a watch only if none of this name and kind runs.
    const watch = watches.start(`counter ${key.namespace}/${key.name}`, { resource: counted, map: () => [key] })
    await watch.whenSynced(signal)
    return cache.list(counted, { namespace: key.namespace ?? '' }).length
  },
  render: () => [],
  report: ({ facts }, reporter) => reporter.update({ count: facts }),
  async finalize({ key, watches }) {
    await watches.stop(`counter ${key.namespace}/${key.name}`)
    return undefined
  },
}

const operator = defineOperator({
  name: 'counter',
  crds: [crdManifest(CounterCrd)],
  controllers: [{ for: Counters, components: [count] }],
  // Roles are derived from what an operator always watches; the rest is listed here.
  rules: [{ apiGroups: ['example.com'], resources: ['*'], verbs: ['list', 'watch'] }],
})

await using world = await runInMemory(operator)
const spec = { kind: 'Note', plural: 'notes' }
const counted = async () => (await world.get(Counters, 'notes')).status?.count
await world.apply(Counters, { metadata: { name: 'notes' }, spec })
await world.settle()
strictEqual(await counted(), 0)

// A missing kind is asked for every ten seconds.
await world.client.create(CustomResourceDefinitions, noteManifest)
await world.apply(Notes, note('shopping', 'milk'))
await world.pass('10s')
strictEqual(await counted(), 1)
await world.apply(Notes, note('garden', 'rake'))
await world.settle()
strictEqual(await counted(), 2)
