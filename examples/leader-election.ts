/** How do I run several replicas? With a Lease: one leads, and another takes over when it stops. */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { ConfigMaps, Leases } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Notes, note, noteManifest } from './support/note.ts'

const labels = { 'app.kubernetes.io/managed-by': 'elected' }
const operator = defineOperator({
  name: 'elected',
  crds: [noteManifest],
  controllers: [
    {
      for: Notes,
      owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=elected' }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { text: spec.text } }),
      ],
    },
  ],
})

/** `operator.run()` does this inside a cluster, with the name of the pod. */
const replica = (identity: string) => ({
  leaderElection: { lease: { namespace: 'default', name: 'elected' }, identity },
})

await using world = await runInMemory(operator, { options: replica('first') })
world.start(replica('second'))
await world.apply(Notes, note('shopping', 'milk'))
await world.settle()
strictEqual((await world.get(Leases, 'elected')).spec?.holderIdentity, 'first')
deepStrictEqual((await world.get(ConfigMaps, 'shopping')).data, { text: 'milk' })

// The leader stops, and the other one takes over.
await world.replicas[0]?.stop()
await world.patch(Notes, 'shopping', { spec: { text: 'bread' } })
await world.settle()
strictEqual((await world.get(Leases, 'elected')).spec?.holderIdentity, 'second')
deepStrictEqual((await world.get(ConfigMaps, 'shopping')).data, { text: 'bread' })
