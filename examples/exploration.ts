/** How do I know that my operator survives crashes? Explore it: every fault, at every point. */
import { deepStrictEqual } from 'node:assert'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { type Exploration, explore } from '@reeve/simulation'
import { NoteCrd, Notes, note } from './support/note.ts'

const labels = { 'app.kubernetes.io/managed-by': 'explored' }
const operator = defineOperator({
  name: 'explored',
  controllers: [
    {
      for: Notes,
      owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=explored' }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { text: spec.text } }),
      ],
    },
  ],
})

const exploration: Exploration = {
  operator: {
    name: 'explored',
    crds: [NoteCrd],
    start: ({ clock, random, logger, metrics }, client) =>
      operator.create({ client, clock, random, logger, metrics }).manager,
  },
  scenario: {
    name: 'life of a Note',
    steps: [
      { name: 'create', act: ({ put }) => put(note('shopping', 'milk')) },
      { name: 'edit', act: ({ put }) => put(note('shopping', 'bread')) },
      { name: 'delete', act: ({ client }) => client.delete(Notes, { namespace: 'default', name: 'shopping' }) },
    ],
  },
}

// One crash and one failed request, for a start; `npx reeve explore --module …` tries everything.
const { divergences } = await explore(exploration.operator, exploration.scenario, {
  patterns: ['crash-after-write', 'failed-request'],
  maxPoints: 1,
})
deepStrictEqual(divergences, [])
