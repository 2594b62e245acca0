/** As `sharded-replicas.test.ts`, at many more points: all of those at which a lease is lost. */
import { expect, it } from 'vitest'
import { explore, type PatternName } from '../src/index.ts'
import { shardedByForce, shardedNotes, shardedScenario } from './catalogue/sharded.ts'

const SAMPLED: readonly PatternName[] = [
  'shutdown',
  'crash-after-write',
  'failed-request',
  'stale-view',
  'crash-at-event',
]

const operators = [shardedNotes(1), shardedByForce]

it.each(operators)('$name survives the loss of its leases at every point', { timeout: 600_000 }, async (operator) => {
  const { divergences, patterns } = await explore(operator, shardedScenario, { patterns: ['lost-leadership'] })
  expect(divergences.map(({ label, message }) => ({ label, message }))).toEqual([])
  expect(patterns[0]?.explored).toBe(patterns[0]?.points)
  expect(patterns[0]?.explored).toBeGreaterThan(8)
})

it.each([1, 2])('sharded replicas, %i in each instance, survive faults', { timeout: 900_000 }, async (replicas) => {
  // Two replicas in one instance send the same requests, which a failed request would take for impatience.
  const patterns = SAMPLED.filter((name) => replicas === 1 || name !== 'failed-request')
  const { divergences } = await explore(shardedNotes(replicas), shardedScenario, { patterns, maxPoints: 12 })
  expect(divergences.map(({ label, message }) => ({ label, message }))).toEqual([])
})
