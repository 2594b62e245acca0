/** Fuzzes the tokens and impersonation headers that callers of the embedded cluster send. */
import { attempt, broken, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { ServiceAccountTokens } from '../src/auth/service-account-tokens.ts'
import { StatusError } from '../src/status-error.ts'

const account = { metadata: { namespace: 'default', name: 'builder', uid: 'u' } }
const clock = { now: () => Date.UTC(2024, 0, 1), schedule: () => ({ cancel: () => undefined }) }
const tokens = new ServiceAccountTokens({
  api: { get: (resource) => (resource === 'serviceaccounts' ? account : undefined) },
  clock,
})
const { token } = tokens.issue({ namespace: 'default', name: 'builder', uid: 'u' }, { expirationSeconds: 3_600 })
const [head = '', claims = '', signature = ''] = token.split('.')
const encode = (text: string) => Buffer.from(text).toString('base64url')

/** The same claims under the same signature; Base64 has several ways to write one. */
function isIssued(text: string): boolean {
  const [header, payload, written = ''] = text.split('.')
  const bytes = (part: string) => Buffer.from(part, 'base64url')
  return header === head && payload === claims && bytes(written).equals(bytes(signature))
}

fuzz('bearer-token', {
  inputs: fc.oneof(
    jsonOf({
      alg: fc.constantFrom('none', 'ES256'),
      sub: fc.string({ maxLength: 4 }),
      aud: jsonValue,
      exp: fc.integer(),
      'kubernetes.io': jsonValue,
    }),
    fc.constant(token),
  ),
  dictionary: ['alg', 'none', 'ES256', 'kid', 'aud', 'exp', '.', 'eyJ', '=', '-', '_'],
  isJson: true,
  run(input) {
    const text = textOf(input)
    const forged = [
      text,
      `${encode(text)}.${claims}.${signature}`,
      `${head}.${encode(text)}.${signature}`,
      `${head}.${claims}.${encode(text)}`,
    ]
    for (const one of forged) {
      const verified = attempt(() => tokens.verify(one), StatusError)
      if (verified?.value === undefined) continue
      if (!isIssued(one)) throw broken('only the token that was issued is accepted', one)
    }
  },
})
