/** How do I have two kinds in one operator? With two controllers; one may watch what the other reconciles. */
import { deepStrictEqual } from 'node:assert'
import { crdManifest, defineCrd } from '@reeve/crd'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { Type } from 'typebox'
import { Notes, note, noteManifest } from './support/note.ts'
import { tryOut } from './support/try-out.ts'

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

await tryOut([operator], async ({ client, pass }) => {
  await client.create(Notes, note('single', 'tea'))
  await client.create(Boards, {
    apiVersion: 'example.com/v1',
    kind: 'Board',
    metadata: { namespace: 'default', name: 'kitchen' },
    spec: { notes: ['milk', 'bread'] },
  })
  await pass(5_000)
  const { items } = await client.listAll(ConfigMaps, { labelSelector: 'app.kubernetes.io/managed-by=boards' })
  deepStrictEqual(
    items.map(({ data }) => data?.text),
    ['milk', 'bread', 'tea'],
  )
})
