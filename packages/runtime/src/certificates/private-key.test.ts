import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { asReadableKey, readPrivateKey } from './private-key.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const right = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
/** An EC key under the label of another encoding. */
const mislabelled = sec1.replaceAll('EC PRIVATE KEY', 'PRIVATE KEY')

test.each([
  ['PKCS #8', right],
  ['SEC 1', sec1],
  ['SEC 1 under the label of PKCS #8', mislabelled],
])('a key in %s is read', (_, pem) => {
  expect(readPrivateKey(pem).equals(privateKey)).toBe(true)
})

test('a key that TLS libraries read is returned unchanged, another is rewritten', () => {
  expect(asReadableKey(right)).toBe(right)
  expect(asReadableKey(mislabelled)).toBe(right)
})

test.each([
  ['nothing', ''],
  ['text', 'hunter2'],
  ['a label around garbage', '-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n'],
])('%s is not a key, and is not quoted', (_, pem) => {
  expect(() => readPrivateKey(pem)).toThrow(/^(?!.*(hunter2|aHVudGVyMg))/s)
})
