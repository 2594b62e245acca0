import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import type { Lookups, Rule } from './rule.ts'
import { runRules } from './rule.ts'

type AnyRule = Rule<ReturnType<typeof dynakube>>

/** Rules of these tests look nothing up. */
const lookups = {} as Lookups
const rule = (id: string, check: AnyRule['check']): AnyRule => ({ id, check })
const run = (...rules: readonly AnyRule[]) => runRules(rules, dynakube(), () => lookups)

describe('a table of rules', () => {
  it('reports findings in its order, whichever rule is first to know', async () => {
    const found = await run(
      rule('slow', () => new Promise((resolve) => setImmediate(resolve, 'one'))),
      rule('none', () => undefined),
      rule('fast', () => 'two'),
      rule('later', async () => 'three'),
      rule('later none', async () => undefined),
    )
    expect(found).toEqual([
      { rule: 'slow', message: 'one' },
      { rule: 'fast', message: 'two' },
      { rule: 'later', message: 'three' },
    ])
  })

  it('fails when a rule throws, and no look-up of another fails unnoticed', async () => {
    const failing = run(
      rule('look-up', () => Promise.reject(new Error('unreachable'))),
      rule('bug', () => {
        throw new Error('bug')
      }),
    )
    await expect(failing).rejects.toThrow()
  })
})
