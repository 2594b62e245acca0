import { type Condition, getCondition, setCondition } from '@reeve/runtime'
import { expect, expectTypeOf, it } from 'vitest'
import type { Note } from './support/notes.ts'

type Conditions = NonNullable<Note['status']>['conditions']

it('conditions of a schema can be passed to setCondition and its result to the status, without casts', () => {
  const note: Note = { apiVersion: 'example.com/v1', kind: 'Note', metadata: { generation: 3 }, spec: { text: 'hi' } }
  const clock = { now: () => 0 }
  const conditions = setCondition(
    note.status?.conditions,
    { type: 'Ready', status: 'True', reason: 'Said', observedGeneration: note.metadata.generation },
    clock,
  )
  expectTypeOf(conditions).toExtend<Conditions>()
  expectTypeOf<NonNullable<Conditions>>().toExtend<readonly Condition[]>()
  const status: Note['status'] = { conditions }
  expect(getCondition(status.conditions, 'Ready')?.observedGeneration).toBe(3)
})
