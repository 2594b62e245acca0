/** How do I use all replicas for very many resources? With shards: each replica works on its part of them. */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { ConfigMaps, Leases } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Notes, note, noteManifest } from './support/note.ts'

const labels = { 'app.kubernetes.io/managed-by': 'sharded' }
const operator = defineOperator({
  name: 'sharded',
  crds: [noteManifest],
  controllers: [
    {
      for: Notes,
      owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=sharded' }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { text: spec.text } }),
      ],
    },
  ],
})

/** `operator.run({ shards: 8 })` does this inside a cluster, and `run --shards 8` on the command line. */
const replica = (identity: string) => ({
  sharding: { lease: { namespace: 'default', name: 'sharded' }, shards: 8, identity },
})

await using world = await runInMemory(operator, { options: replica('first') })
const [first] = world.replicas
const second = world.start(replica('second'))
await world.pass('10s')
const held = (await world.list(Leases)).filter(({ metadata }) => metadata.name.includes('-shard-'))
const holders = held.map(({ spec }) => spec?.holderIdentity).toSorted()
deepStrictEqual(holders, ['first', 'first', 'first', 'first', 'second', 'second', 'second', 'second'])

for (let at = 0; at < 40; at++) await world.apply(Notes, note(`note-${at}`, 'milk'))
await world.settle()

// Each note by one of the replicas, and both have something to do.
const notesOf = (replica = second) => [...new Set(replica.reconciles.map(({ key }) => key.name))]
const [some, others] = [notesOf(first), notesOf(second)]
strictEqual(new Set([...some, ...others]).size, 40)
strictEqual(some.length + others.length, 40)
strictEqual(Math.min(some.length, others.length) > 0, true)
