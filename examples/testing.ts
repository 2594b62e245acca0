/** How do I test with failures, in milliseconds? On an embedded cluster with a simulated clock and injected faults. */
import { strictEqual } from 'node:assert'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { Notes, note, noteManifest } from './support/note.ts'
import { tryOut } from './support/try-out.ts'

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

await tryOut([operator], async ({ cluster, client, pass }) => {
  // The first three creations fail, so the operator has to try again: after 1 s, 2 s and 4 s.
  cluster.faults.inject({ verb: 'create', resource: 'configmaps' }, { kind: 'status', code: 503 }, { times: 3 })
  await client.create(Notes, note('shopping', 'milk'))
  await pass(60_000)
  const key = { namespace: 'default', name: 'shopping' }
  strictEqual((await client.get(ConfigMaps, key)).data?.text, 'milk')

  // Somebody edits the ConfigMap: the operator restores it.
  await client.patch(ConfigMaps, key, { type: 'merge', patch: { data: { text: 'beer' } } })
  await pass()
  strictEqual((await client.get(ConfigMaps, key)).data?.text, 'milk')

  // Nothing is written while nothing changes, here for a day.
  const { writes } = cluster.requests
  await pass(86_400_000)
  strictEqual(cluster.requests.writes, writes)
})
