import { describe, expect, it } from 'vitest'
import { IgnoredNamespacePatterns } from './ignored-namespaces.ts'
import { dynakube } from './testing/build.ts'

const NAMES = ['dynatrace', 'dynatrace2', 'kube-system', 'openshift', 'openshift-dns', 'gke-x', 'gmp-y', 'shop', 'a']
const BY_DEFAULT = ['dynatrace', 'kube-system', 'openshift', 'openshift-dns', 'gke-x', 'gmp-y']

const ignoredBy = (value: string, patterns = new IgnoredNamespacePatterns()) => {
  const { includes, excess } = patterns.of(dynakube({}, { flags: { 'ignored-namespaces': value } }))
  return { names: NAMES.filter(includes), excess }
}
const listOf = (pattern: string, count: number) => JSON.stringify(Array.from({ length: count }, () => pattern))

describe('ignored namespaces', () => {
  it('are those of the platform and that of the DynaKube by default', () => {
    const { includes, excess } = new IgnoredNamespacePatterns().of(dynakube())
    expect([NAMES.filter(includes), excess]).toEqual([BY_DEFAULT, undefined])
  })

  it('take the namespace of the DynaKube as a name, not as a pattern', () => {
    const { metadata, ...rest } = dynakube()
    const { includes } = new IgnoredNamespacePatterns().of({ ...rest, metadata: { ...metadata, namespace: '(' } })
    expect(['(', 'shop'].filter(includes)).toEqual(['('])
  })

  it('are the default ones when the list cannot be read', () => {
    for (const value of ['[1,2,3]', '{}', 'kube-.*', '']) expect(ignoredBy(value).names).toEqual(BY_DEFAULT)
    expect(ignoredBy('[]').names).toEqual([])
    expect(ignoredBy('null').names).toEqual([])
  })

  it('are those that a valid pattern matches, whatever other patterns there are', () => {
    expect(ignoredBy('["(", "^a$"]')).toEqual({ names: ['a'], excess: undefined })
  })

  it('are compiled once however often they are used', () => {
    const patterns = new IgnoredNamespacePatterns()
    const of = (value: string) => patterns.of(dynakube({}, { flags: { 'ignored-namespaces': value } })).includes
    expect(of('["^sh[o]p"]')).toBe(of('["^sh[o]p"]'))
    const first = of('["^sh[o]p"]')
    for (let index = 0; index < 32; index += 1) of(`["${index}"]`)
    expect(of('["^sh[o]p"]')).not.toBe(first)
  })
})

describe('ignored namespaces beyond the limits', () => {
  const ANNOTATION = 'the annotation feature.dynatrace.com/ignored-namespaces exceeds its limits'

  it.each([
    ['many repeats', listOf('a{1000}', 7_000), `${ANNOTATION}: has 70001 characters; at most 65536 are allowed`],
    [
      'a repeat',
      listOf('a{1000}', 5),
      `${ANNOTATION}: pattern 2 is of size 3003 with its repeats written out; at most 997`,
    ],
    ['nested repeats', listOf('((a{20}){20}){9}', 1), `${ANNOTATION}: pattern 1 is of size`],
    ['one long pattern', listOf('[a]'.repeat(100), 1), `${ANNOTATION}: pattern 1 has 300 characters; at most 256 are`],
    ['one long name', listOf('a'.repeat(300), 1), `${ANNOTATION}: pattern 1 has 300 characters; at most 256 are`],
    ['many patterns', listOf('a', 1_001), `${ANNOTATION}: has 1001 patterns; at most 1000 are allowed`],
    ['tables', listOf('\\pL\\pN\\pP\\pZ', 60), `${ANNOTATION}: pattern 49 is of size 83`],
  ])('are reported: %s', (_what, value, message) => {
    expect(ignoredBy(value).excess).toContain(message)
  })

  it('are reported together, with the budget that earlier ones used', () => {
    const { excess } = ignoredBy(JSON.stringify(['^(a|b)-.{800}$', '^(c|d)-.{800}$', '^plain-name$']))
    expect(excess).toMatch(
      /pattern 2 is of size \d+ .* at most \d+ is allowed, as those before it have used \d+ of 4000/,
    )
    expect(ignoredBy(listOf('.{800}', 5)).excess).toMatch(/\(and 3 more like this\)$/)
  })

  it('leave the other namespaces, and also those of the platform', () => {
    const { names } = ignoredBy(JSON.stringify(['^sho[p]$', '((a{20}){20}){9}', '^a$']))
    expect(names).toEqual([...BY_DEFAULT, 'shop', 'a'])
  })

  it('are not met by a thousand names', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `^team-${index}-production$`)
    expect(ignoredBy(JSON.stringify(names)).excess).toBeUndefined()
  })
})
