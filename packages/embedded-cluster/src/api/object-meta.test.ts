import { describe, expect, test } from 'vitest'
import { generateName, nameProblems, newUid, qualifiedNameProblems } from './object-meta.ts'

describe('names', () => {
  test.each([
    ['subdomain', 'a.b-c', true],
    ['subdomain', 'A', false],
    ['subdomain', 'a..b', false],
    ['subdomain', 'x'.repeat(253), true],
    ['subdomain', 'x'.repeat(254), false],
    ['label', 'a-b', true],
    ['label', 'a.b', false],
    ['label', 'x'.repeat(64), false],
    ['service', '1a', false],
    ['service', 'a1', true],
    ['path-segment', 'system:node', true],
    ['path-segment', 'a/b', false],
    ['path-segment', '..', false],
  ] as const)('%s %s is valid: %s', (rule, name, isValid) => {
    expect(nameProblems(name, rule).length === 0).toBe(isValid)
  })

  test.each([
    ['example.com/part', true],
    ['part', true],
    ['a_b.c', true],
    ['/part', false],
    ['example.com/', false],
    ['Example.com/part', false],
    ['a b', false],
  ])('%s is a qualified name: %s', (name, isValid) => {
    expect(qualifiedNameProblems(name).length === 0).toBe(isValid)
  })
})

test('generated names keep their prefix, within the length of a label', () => {
  const name = generateName('web-', () => 0.5)
  expect(name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  expect(generateName('x'.repeat(80), () => 0)).toHaveLength(63)
})

test('uids are random UUIDs of version 4, from the injected source', () => {
  const uid = newUid(() => 0.999)
  expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(newUid(() => 0.999)).toBe(uid)
})
