import { expect, it } from 'vitest'
import { scenarioTimes } from './scenario-times.ts'

const MINUTE_MS = 60_000
/** Only their number counts. */
const steps = Array.from({ length: 3 }, (_, index) => ({
  name: `step ${index}`,
  action: { type: 'apply', objects: [] } as const,
  goal: 'settled' as const,
  rest: false,
}))

function times(settled: { readonly quietMs?: number; readonly patienceMs?: number } = {}) {
  return scenarioTimes({ steps, quietMs: settled.quietMs, patienceMs: settled.patienceMs })
}

it.each([1, 4, 10, 30])('a run may be patient for %i minutes in each of its steps', (minutes) => {
  const { patienceMs, maxRunMs } = times({ patienceMs: minutes * MINUTE_MS })
  expect(patienceMs).toBe(minutes * MINUTE_MS)
  expect(maxRunMs).toBeGreaterThan(steps.length * patienceMs)
})

it('a run without a patience of its own has five minutes at least', () => {
  expect(times().maxRunMs).toBeGreaterThanOrEqual(5 * MINUTE_MS)
})

it.each([
  [{ patienceMs: 45 * MINUTE_MS }, 'settled.patience must be at most 30m, not 45m: start the operator with a shorter'],
  [{ quietMs: 50_000 }, 'settled.patience (40s) must be longer than settled.quiet (50s)'],
  [{ quietMs: 1_500, patienceMs: 1_500 }, 'settled.patience (1500ms) must be longer than settled.quiet (1500ms)'],
])('times that cannot work are rejected: %j', (settled, message) => {
  expect(() => times(settled)).toThrow(message)
})
