import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Condition, getCondition, removeCondition, setCondition } from './condition.ts'

const at = (seconds: number) => ({ now: () => Date.UTC(2030, 0, 1) + seconds * 1000 + 123 })
const ready = { type: 'Ready', status: 'True', reason: 'PodsReady', observedGeneration: 1 } as const

test('a new condition is added at the end with the time it appeared', () => {
  const conditions = setCondition(setCondition(undefined, ready, at(0)), { ...ready, type: 'Available' }, at(5))
  expect(conditions.map(({ type }) => type)).toEqual(['Ready', 'Available'])
  expect(conditions[1]?.lastTransitionTime).toBe('2030-01-01T00:00:05Z')
})

test('the same state again returns the very same array', () => {
  const conditions = setCondition(undefined, ready, at(0))
  expect(setCondition(conditions, ready, at(60))).toBe(conditions)
})

test('a new reason, message or generation keeps the transition time', () => {
  const before = setCondition(undefined, ready, at(0))
  for (const change of [{ reason: 'Other' }, { message: 'now with text' }, { observedGeneration: 2 }]) {
    const after = setCondition(before, { ...ready, ...change }, at(60))
    expect(after).not.toBe(before)
    expect(after[0]).toMatchObject({ ...change, lastTransitionTime: '2030-01-01T00:00:00Z' })
  }
})

test('a new status moves the transition time and keeps the position', () => {
  const before = setCondition(setCondition(undefined, ready, at(0)), { ...ready, type: 'Available' }, at(0))
  const after = setCondition(before, { ...ready, status: 'False', reason: 'PodsMissing' }, at(60))
  expect(after[0]).toMatchObject({ type: 'Ready', status: 'False', lastTransitionTime: '2030-01-01T00:01:00Z' })
  expect(before[0]?.status).toBe('True')
})

test('a message longer than the API allows is cut, and cut the same way next time', () => {
  const state = { ...ready, message: 'x'.repeat(40_000) }
  const conditions = setCondition(undefined, state, at(0))
  expect(conditions[0]?.message).toHaveLength(32_768)
  expect(setCondition(conditions, state, at(1))).toBe(conditions)
})

test('removing keeps the others, and removing what is absent returns the same array', () => {
  const both = setCondition(setCondition(undefined, ready, at(0)), { ...ready, type: 'Available' }, at(0))
  expect(removeCondition(both, 'Ready').map(({ type }) => type)).toEqual(['Available'])
  expect(removeCondition(both, 'Nothing')).toBe(both)
})

test('whatever the sequence of states, types stay unique and transitions follow status changes only', () => {
  const states = fc.array(
    fc.record({
      type: fc.constantFrom('A', 'B', 'C'),
      status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
      reason: fc.constantFrom('R1', 'R2'),
    }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(states, (sequence) => {
      let conditions: readonly Condition[] = []
      for (const [second, state] of sequence.entries()) {
        const before = getCondition(conditions, state.type)
        conditions = setCondition(conditions, state, at(second))
        const after = getCondition(conditions, state.type)
        const moved = before?.lastTransitionTime !== after?.lastTransitionTime
        expect(moved).toBe(before?.status !== state.status)
      }
      expect(new Set(conditions.map(({ type }) => type)).size).toBe(conditions.length)
    }),
  )
})
