/** How do I create objects in other namespaces? They cannot have owner references: a label says whose they are. */
import { deepStrictEqual } from 'node:assert'
import { ConfigMaps, Namespaces } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { Notes, note, noteManifest } from './support/note.ts'
import { tryOut } from './support/try-out.ts'

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

await tryOut([operator], async ({ client, pass }) => {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'archive' } })
  await client.create(Notes, note('shopping', 'milk'))
  const copies = async () =>
    (await client.listAll(ConfigMaps, { labelSelector: LABEL })).items.map(({ metadata, data }) => [
      metadata.namespace,
      data?.text,
    ])
  await pass()
  deepStrictEqual(await copies(), [['archive', 'milk']])
  await client.delete(Notes, { namespace: 'default', name: 'shopping' })
  await pass()
  deepStrictEqual(await copies(), [])
})
