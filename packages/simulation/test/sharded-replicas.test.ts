/** An operator whose replicas divide its objects, under faults: no object is forgotten or worked on twice. */
import { expect, it } from 'vitest'
import { explore } from '../src/index.ts'
import { shardedByForce, shardedNotes, shardedScenario, writesWithoutTheShard } from './catalogue/sharded.ts'

/** Only create and edit: leases are renewed all the time, and the thorough tests go on. */
const beginning = { ...shardedScenario, steps: shardedScenario.steps.slice(0, 2) }

it('sharded replicas survive a crash and the loss of their leases', async () => {
  const { divergences, patterns } = await explore(shardedNotes(1), beginning, {
    patterns: ['lost-leadership', 'crash-after-write'],
    maxPoints: 1,
  })
  expect(divergences.map(({ label, message }) => ({ label, message }))).toEqual([])
  expect(patterns.map(({ explored }) => explored)).toEqual([1, 1])
})

it('only the lease of its shard keeps a replica from overwriting what another one wrote', async () => {
  const options = { patterns: ['lost-leadership'], maxPoints: 1 } as const
  const correct = await explore(shardedByForce, beginning, options)
  expect(correct.divergences.map(({ label, message }) => ({ label, message }))).toEqual([])
  const broken = await explore(writesWithoutTheShard, beginning, options)
  expect(broken.divergences.map(({ problems }) => problems[0]?.kind)).toEqual(['late-write'])
})
