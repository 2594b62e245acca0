import { expect, test } from 'vitest'
import { readTokenFile } from './token-file.ts'

test('tokens are texts, or objects with scopes, in YAML or JSON', () => {
  const yaml = 'abc12345:\n  apiToken: one\n  other: { value: two, scopes: [settings.read] }\ntwo:\n  apiToken: three\n'
  const tenants = [
    {
      id: 'abc12345',
      tokens: [
        { name: 'apiToken', value: 'one' },
        { name: 'other', value: 'two', scopes: ['settings.read'] },
      ],
    },
    { id: 'two', tokens: [{ name: 'apiToken', value: 'three' }] },
  ]
  expect(readTokenFile(yaml)).toEqual(tenants)
  expect(readTokenFile('{"two":{"apiToken":"three"}}')).toEqual(tenants.slice(1))
})

test.each([
  ['hunter2', 'must hold tokens by tenant'],
  ['t: hunter2', 'at t must hold tokens by name'],
  ['t: { apiToken: { value: 5, note: hunter2 } }', 'at t.apiToken must be a text'],
  ['t: { apiToken: { value: hunter2, scopes: all } }', 'at t.apiToken.scopes must be an array'],
  ['t: [hunter2', 'is neither YAML nor JSON'],
])('a file with %s is refused without quoting it', (text, message) => {
  expect(() => readTokenFile(text)).toThrow(message)
  expect(() => readTokenFile(text)).not.toThrow('hunter2')
})
