/** How do I have a resource without a namespace? Say so in its scope; what it owns may have one. */
import { strictEqual } from 'node:assert'
import { crdManifest, defineCrd } from '@reeve/crd'
import { Namespaces } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Type } from 'typebox'

const TeamCrd = defineCrd({
  group: 'example.com',
  kind: 'Team',
  plural: 'teams',
  scope: 'Cluster',
  versions: { v1: { spec: Type.Object({ costCentre: Type.String() }) } },
})
const Teams = TeamCrd.resource('v1')

const operator = defineOperator({
  name: 'teams',
  crds: [crdManifest(TeamCrd)],
  controllers: [
    {
      for: Teams,
      owns: [Namespaces],
      render: ({ metadata: { name }, spec }) => [
        desired(Namespaces, {
          metadata: { name: `team-${name}`, annotations: { 'example.com/cost-centre': spec.costCentre } },
        }),
      ],
    },
  ],
})

await using world = await runInMemory(operator)
await world.apply(Teams, { metadata: { name: 'red' }, spec: { costCentre: '4711' } })
await world.settle()
const { metadata } = await world.get(Namespaces, 'team-red')
strictEqual(metadata.annotations?.['example.com/cost-centre'], '4711')
