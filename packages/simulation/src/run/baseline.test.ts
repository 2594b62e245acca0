import { describe, expect, it } from 'vitest'
import { ChosenValues } from '../compare/chosen-values.ts'
import { type Baseline, repeatedWrites } from './baseline.ts'

const ID = 'configmaps default/shop'

const undisturbed: Baseline = {
  creates: new Map([[ID, 1]]),
  deletes: new Map(),
  outsideRemovals: new Map(),
  managedWrites: 1,
  snapshots: [],
  resources: new Set(),
  durationsMs: [],
  longestPauseMs: 0,
  userCreates: new Map(),
  chosen: ChosenValues.none,
  numbering: undefined,
}

/** What is said of a run in real time that created and deleted the object this often. */
function problemsOf(creates: number, deletes: number) {
  const counts = { ...undisturbed, creates: new Map([[ID, creates]]), deletes: new Map([[ID, deletes]]) }
  const allowed = { extraCreates: 0, racingCreates: 2, extraDeletes: 1, extraRemovals: 0 }
  return repeatedWrites(counts, undisturbed, allowed).map(({ message }) => message)
}

describe('an object that is created more often than undisturbed', () => {
  it('may have been deleted by the garbage collector, a few times', () => {
    expect(problemsOf(3, 0)).toEqual([])
    expect(problemsOf(4, 0)).toEqual([`created ${ID} 4 times, 1 times in the undisturbed run`])
  })

  it('was replaced for nothing if the operator itself deleted it', () => {
    expect(problemsOf(1, 1)).toEqual([])
    expect(problemsOf(2, 1)).toEqual([`created ${ID} 2 times, 1 times in the undisturbed run`])
  })
})
