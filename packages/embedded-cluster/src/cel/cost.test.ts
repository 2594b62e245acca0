/** Rules are untrusted programs: whatever they compute, they end within the budget. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { compileRules } from './compile-rules.ts'
import { evaluateRules } from './evaluate-rules.ts'

const LONG = 500_000
const properties: Readonly<Record<string, Schema>> = {
  s: { type: 'string' },
  t: { type: 'string', format: 'date-time' },
  l: { type: 'array', items: { type: 'string' } },
  o: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
}

/** What a rule says about a spec: the messages of its violations. */
function verdict(rule: string, spec: JsonObject = {}): readonly string[] {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] } },
  }
  const { rules, errors } = compileRules(schema)
  if (rules === undefined) throw new Error(errors[0]?.message)
  return evaluateRules(rules, { spec }, undefined).map(({ message }) => message)
}

const EXCEEDED = expect.stringContaining('call cost exceeds limit')

describe('work that grows faster than its input', () => {
  it.each([
    ['comparing all items with each other', 'lists.range(100000).distinct().size() > 0'],
    ['comparing all items of two lists', 'sets.contains(lists.range(50000), lists.range(50000))'],
    ['making lists in a loop', 'lists.range(50000).all(i, lists.range(100000).size() > 0)'],
    ['sorting in a loop', 'lists.range(5000).all(i, lists.range(1000).sort().size() > 0)'],
    ['compiling patterns in a loop', "lists.range(50000).all(i, 'a'.matches('(a{30}){30}' + string(i)) || true)"],
    ['time zones in a loop', "lists.range(90000).all(i, self.t.getHours('Europe/Paris') >= 0)"],
  ])('is charged: %s', (_what, rule) => {
    expect(verdict(rule, { t: '2024-01-01T00:00:00Z' })).toEqual([EXCEEDED])
  })

  it.each([
    ['putting a text between all characters of another', "self.s.replace('', self.s).size() > 0"],
    ['putting a text between all items', 'self.l.map(x, x).join(self.s).size() > 0'],
    ['a large pattern on a long text', "self.s.matches('^(a?){300}$')"],
    ['splitting a text in a loop', "self.l.all(x, self.s.split('').size() > 0)"],
  ])('is charged: %s', (_what, rule) => {
    const l = Array.from({ length: 5_000 }, (_, index) => String(index))
    expect(verdict(rule, { s: 'a'.repeat(LONG), l })).toEqual([EXCEEDED])
  })

  it('is charged: comparing what is nested in a loop', () => {
    const o = Array.from({ length: 1_000 }, () => Array.from({ length: 100 }, (_, index) => index))
    expect(verdict('lists.range(5000).all(i, self.o == self.o.map(x, x))', { o })).toEqual([EXCEEDED])
    expect(verdict('lists.range(5000).all(i, self.o in [self.o.map(x, x)])', { o })).toEqual([EXCEEDED])
  })

  // Each step contains the list before it twice: forty of them would be a list of 2^40 numbers if they were written out.
  const doubled = `[1]${'.map(x, [x, x])'.repeat(40)}`
  const optional = `[1]${'.map(x, [optional.of(x), optional.of(x)])'.repeat(40)}`

  it.each([
    ['comparing lists', `${doubled} == ${doubled}`],
    ['comparing lists of optional values', `${optional} == ${optional}`],
    ['looking for a list in a list', `${doubled}[0] in ${doubled}`],
    ['looking for the index of a list', `${doubled}.indexOf(${doubled}[0]) == 0`],
    ['flattening lists', `${doubled}.flatten(50).size() > 0`],
    ['distinct lists', `(${doubled} + ${doubled} + ${doubled}).distinct().size() > 0`],
    ['printing lists', `'%s'.format([${doubled}]) == ''`],
  ])('is charged when lists share what they hold: %s', (_what, rule) => {
    expect(verdict(rule)).toEqual([EXCEEDED])
  })

  it('is not done at all for a text that is not a duration', () => {
    expect(verdict("duration(self.s) > duration('1s')", { s: '1'.repeat(LONG) })).toEqual([
      expect.stringContaining("type conversion error from 'string' to 'google.protobuf.Duration'"),
    ])
  })

  it('is not done to find the former item of a keyed list', () => {
    const item: Schema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'self.name == oldSelf.name' }],
    }
    const spec: Schema = {
      type: 'array',
      items: item,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }
    const { rules } = compileRules({ type: 'object', properties: { spec } })
    if (rules === undefined) throw new Error('no rules')
    const old = { spec: Array.from({ length: 40_000 }, (_, index) => ({ name: `name-${index}` })) }
    expect(evaluateRules(rules, { spec: old.spec.toReversed() }, old)).toEqual([])
  })

  it('is not done for the query of a URL', () => {
    const query = Array.from({ length: 20_000 }, (_, index) => `k${index}=1`).join('&')
    expect(verdict('url(self.s).getQuery().size() == 20000', { s: `https://a.example/?${query}` })).toEqual([])
  })
})

describe('work that is worth its price', () => {
  const l = Array.from({ length: 1_000 }, (_, index) => `name-${index}`)

  it.each([
    "self.l.all(x, x.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",
    'self.l.all(x, self.l.size() <= 1000)',
    'self.l.distinct().size() == self.l.size()',
    'self.l == self.l.map(x, x)',
    "self.l.join(',').size() > 1000",
    'self.l.sort().size() == 1000',
  ])('is done: %s', (rule) => {
    expect(verdict(rule, { l })).toEqual([])
  })
})

describe('arguments beyond what can be computed', () => {
  it.each([
    ["'%.999f'.format([1.5]) == ''", 'format'],
    ['string(timestamp(9223372036854775807)) == ""', 'string'],
    ['timestamp(9223372036854775807).getFullYear() > 0', 'getFullYear'],
  ])('are an error of the rule, not of the server: %s', (rule, name) => {
    expect(verdict(rule)).toEqual([expect.stringContaining(`${name}: `)])
  })

  it.each(["'a'.matches('(a{1000}){1000}')", "'a'.matches(self.s)"])('are refused in a pattern: %s', (rule) => {
    const judge = () => verdict(rule, { s: 'a{1000}'.repeat(20_000) })
    let message: unknown
    try {
      ;[message] = judge()
    } catch (error) {
      // A literal is refused with the definition.
      message = String(error)
    }
    expect(message).toMatch(/characters; at most|invalid repeat count|with its repeats written out; at most/)
  })
})
