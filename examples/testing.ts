/** How do I test with failures, in milliseconds? On an embedded cluster with a simulated clock and injected faults. */
import { strictEqual } from 'node:assert'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Notes, note, noteManifest } from './support/note.ts'

const labels = { 'app.kubernetes.io/managed-by': 'tested' }
const operator = defineOperator({
  name: 'tested',
  crds: [noteManifest],
  controllers: [
    {
      for: Notes,
      owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=tested' }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { text: spec.text } }),
      ],
    },
  ],
})

await using world = await runInMemory(operator)
// The first three creations fail, so the operator has to try again: after 1 s, 2 s and 4 s.
world.fail({ verb: 'create', resource: ConfigMaps, times: 3 })
await world.apply(Notes, note('shopping', 'milk'))
await world.settle()
strictEqual((await world.get(ConfigMaps, 'shopping')).data?.text, 'milk')

// Somebody edits the ConfigMap: the operator restores it.
await world.patch(ConfigMaps, 'shopping', { data: { text: 'beer' } })
await world.settle()
strictEqual((await world.get(ConfigMaps, 'shopping')).data?.text, 'milk')

// Nothing is written while nothing changes, here for a day.
strictEqual(await world.writesDuring('1d'), 0)
