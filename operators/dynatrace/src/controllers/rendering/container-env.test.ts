import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byPriority, lastOfEachName, tenantOf } from './container-env.ts'

const NAME = fc.constantFrom('A', 'B', '_c', 'b', 'Ä')
const variables = fc.array(fc.record({ name: NAME, value: fc.string() }))

describe('entries with priorities', () => {
  it('are replaced only by what counts for more', () => {
    const entry = (value: string, priority: number) => ({ key: 'key', value, priority })
    const winner = (...entries: ReturnType<typeof entry>[]) => byPriority(entries).map(({ value }) => value)
    expect(winner(entry('operator', 1), entry('user', 2))).toEqual(['user'])
    expect(winner(entry('first', 2), entry('second', 2))).toEqual(['first'])
    expect(winner(entry('field', 10), entry('user', 2))).toEqual(['field'])
  })

  it('come once per key, in the order of their bytes', () => {
    fc.assert(
      fc.property(variables, variables, (own, user) => {
        const names = tenantOf(own, user).map(({ name }) => name)
        expect(names).toEqual([...new Set([...own, ...user].map(({ name }) => name))].sort())
      }),
    )
  })
})

describe('variables that are only appended', () => {
  it('mean the same as all of them, each once', () => {
    fc.assert(
      fc.property(variables, (given) => {
        const once = lastOfEachName(given)
        const meaning = (list: typeof given) => Object.fromEntries(list.map(({ name, value }) => [name, value]))
        expect(meaning([...once] as typeof given)).toEqual(meaning(given))
        expect(once).toHaveLength(new Set(given.map(({ name }) => name)).size)
      }),
    )
  })
})
