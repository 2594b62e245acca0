/** How do I create objects in other namespaces? They cannot have owner references: a label says whose they are. */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Notes, note, noteManifest } from './support/note.ts'

const LABEL = 'example.com/note'

const operator = defineOperator({
  name: 'copies',
  crds: [noteManifest],
  controllers: [
    {
      for: Notes,
      owns: [{ resource: ConfigMaps, labelSelector: LABEL }],
      // The engine applies, guards and prunes these like all others.
      elsewhere: [{ resource: ConfigMaps, label: LABEL, labelValue: ({ namespace, name }) => `${namespace}.${name}` }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, {
          metadata: { namespace: 'archive', name, labels: { [LABEL]: `${namespace}.${name}` } },
          data: { text: spec.text },
        }),
      ],
    },
  ],
})

const archive = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'archive' } }
await using world = await runInMemory(operator, { objects: [archive] })
await world.apply(Notes, note('shopping', 'milk'))
await world.settle()
deepStrictEqual((await world.get(ConfigMaps, { namespace: 'archive', name: 'shopping' })).data, { text: 'milk' })
await world.delete(Notes, 'shopping')
await world.settle()
strictEqual(await world.find(ConfigMaps, { namespace: 'archive', name: 'shopping' }), undefined)
