import { expect, it } from 'vitest'
import { Occurrences } from './occurrences.ts'

it('gives the same occurrence the same number in a run with another order', () => {
  const first = new Occurrences()
  const numbers = ['create a', 'create b', 'create a'].map((what) => first.next(what))
  expect(numbers).toEqual([0, 1, 2])
  const second = new Occurrences(first)
  expect(['create b', 'create a', 'create a'].map((what) => second.next(what))).toEqual([1, 0, 2])
})

it('gives what happened only in the second run numbers of its own', () => {
  const first = new Occurrences()
  first.next('create a')
  const second = new Occurrences(first)
  expect(['create c', 'create a', 'create a'].map((what) => second.next(what))).toEqual([1, 0, 2])
})
