/** How do I run several replicas? With a Lease: one leads, and another takes over when it stops. */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { ConfigMaps, Leases } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { Notes, note, noteManifest } from './support/note.ts'
import { tryOut } from './support/try-out.ts'

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
const replica = (identity: string): Parameters<typeof tryOut>[0][number] => ({
  crds: operator.crds,
  create: (options) =>
    operator.create({ ...options, leaderElection: { lease: { namespace: 'default', name: 'elected' }, identity } }),
})

await tryOut([replica('first'), replica('second')], async ({ client, pass }) => {
  await pass()
  await client.create(Notes, note('shopping', 'milk'))
  await pass()
  const lease = await client.get(Leases, { namespace: 'default', name: 'elected' })
  strictEqual(['first', 'second'].includes(lease.spec?.holderIdentity ?? ''), true)
  const { data } = await client.get(ConfigMaps, { namespace: 'default', name: 'shopping' })
  deepStrictEqual(data, { text: 'milk' })
})
