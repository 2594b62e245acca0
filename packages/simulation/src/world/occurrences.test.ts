import { expect, it } from 'vitest'
import { Occurrences } from './occurrences.ts'

it('the same occurrence gets the same number in a run with another order', () => {
  const first = new Occurrences()
  const numbers = ['create a', 'create b', 'create a'].map((what) => first.next(what))
  expect(numbers).toEqual([0, 1, 2])
  const second = new Occurrences(first)
  expect(['create b', 'create a', 'create a'].map((what) => second.next(what))).toEqual([1, 0, 2])
})

it('what happened only in the second run gets numbers of its own', () => {
  const first = new Occurrences()
  first.next('create a')
  const second = new Occurrences(first)
  expect(['create c', 'create a', 'create a'].map((what) => second.next(what))).toEqual([1, 0, 2])
})

it('an occurrence is known again when a part of its name is drawn', () => {
  const first = new Occurrences()
  for (const what of ['create events default/shop.1a1ea270e9796e42', 'ADDED pods default/shop-7d9f6c5b8-x2k4z'])
    first.next(what)
  const second = new Occurrences(first)
  expect(second.next('ADDED pods default/shop-7d9f6c5b8-q8w5v')).toBe(1)
  expect(second.next('create events default/shop.2b1ea270e9796e42')).toBe(0)
  expect(second.next('create services default/shop.2b1ea270e9796e42')).toBe(2)
})
