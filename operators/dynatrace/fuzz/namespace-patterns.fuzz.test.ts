/** Fuzzes the annotation that names ignored namespaces. */
import { broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { IgnoredNamespacePatterns } from '../src/api/ignored-namespaces.ts'
import { dynakube } from '../src/api/testing/build.ts'

const pattern = fc.constantFrom(
  '^shop$',
  '^kube-.*',
  '(a|b)+c',
  'a{1000}',
  '(x{30}){30}',
  '\\pL+',
  '[',
  '(?i)A',
  '',
  'a',
  '.*',
  '(?=a)',
  '\\Q\\E',
  '[^a-z]{500}',
)
const list = fc.array(pattern, { maxLength: 6 })

fuzz('namespace-patterns', {
  inputs: fc.oneof(
    list.map((patterns) => JSON.stringify(patterns)),
    list.map((patterns) => patterns.join(',')),
  ),
  dictionary: [
    'a{1000}',
    '{9}',
    '(',
    ')',
    '[',
    ']',
    '*',
    '+',
    '?',
    '|',
    '\\p{Greek}',
    '\\Q',
    '\\x{41}',
    '^',
    '$',
    '(?i)',
    '","',
    '["',
  ],
  maxBytes: 256 * 1024,
  run(input) {
    const value = textOf(input)
    const flagged = dynakube({}, { flags: { 'ignored-namespaces': value } })
    const ignored = new IgnoredNamespacePatterns().of(flagged)
    for (const name of ['shop', 'kube-system', 'a'.repeat(63), '']) ignored.includes(name)
    if (ignored.excess !== undefined && ignored.excess.length > 2_000)
      throw broken('a message stays short', ignored.excess)
  },
})
