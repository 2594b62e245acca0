import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { decodeJson } from './decode-json.ts'

const Schema = Type.Object({
  token: Type.Optional(Type.String()),
  items: Type.Optional(Type.Array(Type.Object({ size: Type.Integer() }))),
})
const decode = (text: string) => decodeJson(Schema, Buffer.from(text))

it('decodeJson returns a value that matches the schema, with additional fields', () => {
  expect(decode('{"token":"t","more":1}')).toEqual({ value: { token: 't', more: 1 } })
})

it('decodeJson reads null as absent', () => {
  expect(decode('{"token":null,"items":[{"size":1,"other":null}]}')).toEqual({ value: { items: [{ size: 1 }] } })
})

it('decodeJson returns the numbers of some keys as text', () => {
  const Numbers = Type.Object({ large: Type.String(), small: Type.Integer() })
  const text = '{"large":18446744073709551615,"small":7}'
  expect(decodeJson(Numbers, Buffer.from(text), { numbersAsText: ['large'] })).toEqual({
    value: { large: '18446744073709551615', small: 7 },
  })
})

it.each([
  ['{"token":5}', /^token must be string$/],
  ['{"items":[{"size":1},{"size":"2"}]}', /^items\[1\]\.size must be integer$/],
  ['{"items":[{}]}', /^items\[0\] must have required properties size$/],
  ['{"items":[null]}', /^items\[0\] must be object$/],
  ['{"items":[{"size":1},null,{"size":2}]}', /^items\[1\] must be object$/],
  ['[]', /^the response must be object$/],
  ['null', /^the response must be object$/],
  ['', /^the response is empty$/],
  ['<html>secret</html>', /^the response is not JSON$/],
])('decodeJson names the invalid field of %s without its value', (text, problem) => {
  expect(decode(text)).toEqual({ problem: expect.stringMatching(problem) })
})
