/** How do I use all replicas for very many resources? With shards: each replica works on its part of them. */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { ConfigMaps, Leases } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { Notes, note, noteManifest } from './support/note.ts'
import { tryOut } from './support/try-out.ts'

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

const reconciledBy = new Map<string, Set<string>>()

/** `operator.run({ shards: 8 })` does this inside a cluster, and `run --shards 8` on the command line. */
const replica = (identity: string): Parameters<typeof tryOut>[0][number] => ({
  crds: operator.crds,
  create: (options) =>
    operator.create({
      ...options,
      sharding: { lease: { namespace: 'default', name: 'sharded' }, shards: 8, identity },
      onReconcile: ({ key: { name } }) => {
        reconciledBy.set(name, (reconciledBy.get(name) ?? new Set()).add(identity))
      },
    }),
})

await tryOut([replica('first'), replica('second')], async ({ client, pass }) => {
  await pass(10_000)
  const held = (await client.listAll(Leases)).items.filter(({ metadata }) => metadata.name.includes('-shard-'))
  const holders = held.map(({ spec }) => spec?.holderIdentity).toSorted()
  deepStrictEqual(holders, ['first', 'first', 'first', 'first', 'second', 'second', 'second', 'second'])

  for (let at = 0; at < 40; at++) await client.create(Notes, note(`note-${at}`, 'milk'))
  await pass()
  strictEqual(reconciledBy.size, 40)
  // Each note by one of the replicas, and both have something to do.
  strictEqual(Math.max(...[...reconciledBy.values()].map((replicas) => replicas.size)), 1)
  strictEqual(new Set([...reconciledBy.values()].flatMap((replicas) => [...replicas])).size, 2)
})
