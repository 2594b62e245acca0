/** Fuzzes the JSONPath of printer columns, scale paths and selectable fields. */
import { attempt, broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { compileJsonPath, JsonPathError } from '../src/schema/json-path.ts'

const step = fc.constantFrom(
  '.a',
  '.b',
  '..a',
  '.*',
  '[0]',
  '[-1]',
  '[1:]',
  '[::2]',
  '[*]',
  "['a']",
  '["a","b"]',
  '.a\\.b',
  '[?(@.a=="x")]',
  '[?(@.b>1)]',
  '[?(@.a)].b',
  '..',
  '[0,1]',
)
const sample = { a: 'x', b: [1, 2, { a: 'x', b: 3 }], c: { a: { a: [{ a: 1 }] } }, __proto__: 1 }

fuzz('json-path', {
  inputs: fc.array(step, { maxLength: 6 }).map((steps) => steps.join('')),
  seeds: ['.status.conditions[?(@.type=="Ready")].status', '{.spec.replicas}', "$['a']..b[1:2:3]"],
  dictionary: ['.', '..', '*', '[', ']', '[?(@', ')]', '==', '>=', '"', "'", ':', ',', '\\', '@', '$', '{', '}'],
  run(input) {
    const compiled = attempt(() => compileJsonPath(textOf(input)), JsonPathError)
    if (compiled === undefined) return
    const values = compiled.value(sample)
    if (values.includes(Object.prototype as never)) throw broken('a path leads to own members only', textOf(input))
  },
})
