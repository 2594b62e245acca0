/** How do I have two kinds in one operator? With two controllers; one may watch what the other reconciles. */
import { strictEqual } from 'node:assert'
import { crdManifest, defineCrd } from '@reeve/crd'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Type } from 'typebox'
import { Notes, note, noteManifest } from './support/note.ts'

const BoardCrd = defineCrd({
  group: 'example.com',
  kind: 'Board',
  plural: 'boards',
  scope: 'Namespaced',
  versions: { v1: { spec: Type.Object({ notes: Type.Array(Type.String()) }) } },
})
const Boards = BoardCrd.resource('v1')
const labels = { 'app.kubernetes.io/managed-by': 'boards' }

const operator = defineOperator({
  name: 'boards',
  crds: [noteManifest, crdManifest(BoardCrd)],
  controllers: [
    {
      for: Notes,
      owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=boards' }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, { metadata: { name: `note-${name}`, namespace, labels }, data: { text: spec.text } }),
      ],
    },
    {
      for: Boards,
      // A Board renders Notes, which the other controller turns into ConfigMaps.
      owns: [Notes],
      render: ({ metadata: { name, namespace }, spec }) =>
        spec.notes.map((text, index) =>
          desired(Notes, { metadata: { name: `${name}-${index}`, namespace }, spec: { text } }),
        ),
    },
  ],
})

await using world = await runInMemory(operator)
await world.apply(Notes, note('single', 'tea'))
await world.apply(Boards, { metadata: { name: 'kitchen' }, spec: { notes: ['milk', 'bread'] } })
await world.settle()
const text = async (name: string) => (await world.get(ConfigMaps, name)).data?.text
strictEqual(await text('note-single'), 'tea')
strictEqual(await text('note-kitchen-0'), 'milk')
strictEqual(await text('note-kitchen-1'), 'bread')
