/** What users do with Sprockets, for `npm run explore`: the operator must survive every fault on the way. */
import type { Exploration } from '@reeve/simulation'
import { operator } from '../src/operator.ts'
import { SprocketCrd, SprocketResource } from '../src/sprocket.ts'

const key = { namespace: 'default', name: 'first' }
const sprocket = (message: string) => ({
  apiVersion: 'template.example.com/v1',
  kind: 'Sprocket',
  metadata: key,
  spec: { message },
})

export const exploration: Exploration = {
  operator: {
    name: operator.name,
    crds: [SprocketCrd],
    hasElection: true,
    start: ({ clock, random, logger, metrics, leaderElection }, client) =>
      operator.create({ client, clock, random, logger, metrics, ...(leaderElection && { leaderElection }) }).manager,
  },
  scenario: {
    name: 'life of a Sprocket',
    steps: [
      { name: 'create', act: ({ put }) => put(sprocket('hello')) },
      { name: 'edit', act: ({ put }) => put(sprocket('good morning')) },
      {
        name: 'hide',
        act: ({ client }) =>
          client.patch(SprocketResource, key, { type: 'merge', patch: { spec: { isPublic: false } } }),
      },
      { name: 'delete', act: ({ client }) => client.delete(SprocketResource, key) },
      { name: 'create again', act: ({ put }) => put(sprocket('hello again')) },
    ],
  },
}
