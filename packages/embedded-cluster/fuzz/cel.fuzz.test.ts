/** Fuzzes CEL rules: compiling, and evaluating them on objects. */
import { fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import fc, { type Arbitrary } from 'fast-check'
import { compileRules } from '../src/cel/compile-rules.ts'
import { evaluateRules, rulesNotChecked } from '../src/cel/evaluate-rules.ts'
import { isJsonObject, type JsonObject } from '../src/json.ts'
import { prune } from '../src/schema/prune.ts'
import type { Schema } from '../src/schema/schema.ts'
import { validateSchema } from '../src/schema/validate.ts'
import { parsedBody } from './support/parsed-input.ts'

const fields: Readonly<Record<string, Schema>> = {
  i: { type: 'integer' },
  d: { type: 'number' },
  s: { type: 'string' },
  b: { type: 'boolean' },
  l: { type: 'array', items: { type: 'integer' } },
  m: { type: 'object', additionalProperties: { type: 'string' } },
  o: { type: 'object', properties: { x: { type: 'integer' }, namespace: { type: 'string' } } },
  t: { type: 'string', format: 'date-time' },
  u: { type: 'string', format: 'duration' },
  y: { type: 'string', format: 'byte' },
  e: {
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  },
  n: { 'x-kubernetes-int-or-string': true },
}
const sample: JsonObject = {
  i: 7,
  d: 2.5,
  s: 'Hello World',
  b: true,
  l: [3, 1, 2],
  m: { one: 'a', two: 'b' },
  o: { x: 5, namespace: 'n' },
  t: '2024-02-29T12:34:56Z',
  u: '1h30m',
  y: 'aGk=',
  e: [{ k: 'a', v: 1 }],
  n: '50%',
}

/** Expressions by the type of their value; `dyn` allows a value of any type anywhere. */
const expressions = fc.letrec<Record<'text' | 'number' | 'list' | 'truth' | 'any', string>>((tie) => {
  const [text, number, list, truth, any] = [tie('text'), tie('number'), tie('list'), tie('truth'), tie('any')]
  const apply = (receiver: Arbitrary<string>, name: string, ...args: readonly Arbitrary<string>[]) =>
    fc.tuple(receiver, ...args).map(([on, ...values]) => `${on}.${name}(${values.join(', ')})`)
  const call = (name: string, argument: Arbitrary<string>) => argument.map((value) => `${name}(${value})`)
  const binary = (operand: Arbitrary<string>, ...signs: readonly string[]) =>
    fc.tuple(operand, fc.constantFrom(...signs), operand).map(([a, sign, b]) => `(${a} ${sign} ${b})`)
  const loop = (name: string, body: Arbitrary<string>) =>
    fc.tuple(list, body).map(([on, part]) => `${on}.${name}(x, ${part})`)
  const depth = { depthSize: 'small' } as const
  return {
    text: fc.oneof(
      depth,
      fc.constantFrom(
        'self.s',
        '"a"',
        '""',
        "'%s %.3f'",
        "'1h'",
        "'10.0.0.0/8'",
        "'https://a:1/b'",
        '"😀"',
        "'1.2.3'",
        "'(a{9}){9}'",
      ),
      binary(text, '+'),
      apply(text, 'replace', text, text),
      apply(text, 'substring', number),
      apply(text, 'format', list),
      apply(text, 'find', text),
      apply(text, 'charAt', number),
      apply(list, 'join', text),
      call('string', any),
      call('dyn', any),
    ),
    number: fc.oneof(
      depth,
      fc.constantFrom('self.i', '1', '0', '-1', '9223372036854775807', '1.5', '2u', 'self.d', 'x'),
      binary(number, '+', '-', '*', '/', '%'),
      call('size', any),
      call('int', any),
      call('double', any),
      apply(text, 'indexOf', text),
      apply(list, 'sum'),
      apply(list, 'max'),
      call('dyn', any),
    ),
    list: fc.oneof(
      depth,
      fc.constantFrom('self.l', 'self.e', '[1, 2]', '["a", 1, null]', '[]', 'self.m'),
      call('lists.range', number),
      apply(text, 'split', text),
      apply(text, 'findAll', text),
      apply(list, 'distinct'),
      apply(list, 'sort'),
      apply(list, 'flatten'),
      apply(list, 'slice', number, number),
      loop('map', any),
      loop('filter', truth),
      binary(list, '+'),
      fc.array(any, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    ),
    truth: fc.oneof(
      depth,
      fc.constantFrom('self.b', 'true', 'has(self.s)', 'oldSelf.b'),
      binary(truth, '&&', '||'),
      binary(any, '==', '!='),
      binary(number, '<', '>='),
      apply(text, 'matches', text),
      apply(text, 'contains', text),
      apply(list, 'isSorted'),
      fc.tuple(any, list).map(([item, items]) => `(${item} in ${items})`),
      fc
        .tuple(fc.constantFrom('all', 'exists', 'exists_one'), list, truth)
        .map(([name, on, body]) => `${on}.${name}(x, ${body})`),
      fc
        .tuple(fc.constantFrom('isQuantity', 'isIP', 'isCIDR', 'isURL', 'isSemver'), text)
        .map(([name, a]) => `${name}(${a})`),
      fc.tuple(list, list).map(([a, b]) => `sets.contains(${a}, ${b})`),
      truth.map((a) => `!${a}`),
    ),
    any: fc.oneof(
      depth,
      fc.constantFrom(
        'self.t',
        'self.u',
        'self.y',
        'self.o',
        'self.m',
        'self.n',
        'null',
        '{"a": 1}',
        'b"x"',
        'x',
        'optional.none()',
      ),
      text,
      number,
      list,
      truth,
      fc.tuple(truth, any, any).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc.tuple(any, any).map(([a, b]) => `dyn(${a})[${b}]`),
      fc
        .tuple(
          fc.constantFrom('duration', 'timestamp', 'quantity', 'ip', 'cidr', 'url', 'semver', 'type', 'bytes'),
          text,
        )
        .map(([name, a]) => `${name}(${a})`),
    ),
  }
})

fuzz('cel', {
  inputs: jsonOf({
    rule: expressions.truth,
    messageExpression: expressions.text,
    fieldPath: fc.constantFrom('.i', '.m.one', "['o']", '.__proto__'),
    self: fc.oneof(fc.constant(sample), jsonValue),
  }),
  seeds: [
    JSON.stringify({ rule: "self.s.matches('^[a-z]+$') || self.l.all(x, x > 1)", self: sample }),
    JSON.stringify({ rule: 'self.l.map(x, self.l.map(y, x * y)).flatten().sum() < 100', self: sample }),
    JSON.stringify({ rule: "'%s %.3f %x'.format([self.s, self.d, self.i]) == 'a'", self: sample }),
    JSON.stringify({ rule: "quantity('1Gi').isGreaterThan(quantity(self.s))", self: sample }),
    JSON.stringify({
      rule: "self.s.replace('l', self.s).size() > 3",
      messageExpression: "'no ' + self.s",
      self: sample,
    }),
    JSON.stringify({ rule: 'self.t > timestamp("2024-01-01T00:00:00Z") && self.u < duration("2h")', self: sample }),
    JSON.stringify({ rule: "url('https://a:1/b?c=d').getHost() == 'a:1' && ip('::1').isLoopback()", self: sample }),
    JSON.stringify({ rule: 'lists.range(3).exists(x, x in self.l) && self.?o.x.orValue(1) == 5', self: sample }),
  ],
  dictionary: [
    'self',
    'oldSelf',
    '.all(x, ',
    '.map(x, ',
    '.replace(',
    '.format([',
    '.matches("a{9}")',
    '.split("")',
    'lists.range(999)',
    '%.999f',
    ' + ',
    ' in ',
    ' ? ',
    ' : ',
    '[',
    '{',
    '.?',
    '9223372036854775808',
    'self.s + self.s',
    '(a*)*',
    '\\',
  ],
  isJson: true,
  run(input) {
    const value = parsedBody(textOf(input))
    if (!isJsonObject(value) || typeof value.rule !== 'string') return
    const { rule, messageExpression, fieldPath, self } = value
    const schema: Schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: fields,
          'x-kubernetes-validations': [
            {
              rule,
              ...(typeof messageExpression === 'string' && { messageExpression }),
              ...(typeof fieldPath === 'string' && { fieldPath }),
            },
          ],
        },
      },
    }
    const { rules, errors } = compileRules(schema)
    if (rules === undefined || errors.length > 0) return
    const { object } = prune(schema, { spec: isJsonObject(self) ? self : sample })
    const problems = validateSchema(schema, object)
    if (rulesNotChecked(problems) !== undefined) return
    for (const old of [undefined, { spec: sample }]) evaluateRules(rules, object, old)
  },
})
