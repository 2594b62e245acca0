/** Fuzzes the decoding of JSON responses against their schema. */
import { fuzz, jsonOf, jsonValue } from '@reeve/fuzz'
import fc from 'fast-check'
import { Type } from 'typebox'
import { decodeJson } from '../src/decode-json.ts'

const Item = Type.Object({
  id: Type.String({ minLength: 1 }),
  size: Type.Integer({ minimum: 0 }),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
})
const Response = Type.Object({
  items: Type.Array(Type.Union([Item, Type.String()])),
  next: Type.Optional(Type.String()),
  any: Type.Optional(Type.Unknown()),
})
const item = fc.oneof(
  fc.record({
    id: fc.string({ maxLength: 3 }),
    size: fc.constantFrom(1, -1, 2 ** 60),
    tags: fc.constantFrom({ a: 'b' }, { __proto__: 'x' }, null),
  }),
  jsonValue,
)

fuzz('json-answer', {
  inputs: jsonOf({ items: fc.array(item, { maxLength: 4 }), next: fc.constantFrom('x', null), any: jsonValue }),
  dictionary: ['items', 'id', 'size', 'tags', 'next', 'any'],
  isJson: true,
  run(input) {
    decodeJson(Response, input)
    decodeJson(Response, input, { numbersAsText: ['size', 'any'] })
  },
})
