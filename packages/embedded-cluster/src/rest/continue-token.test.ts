import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeContinue, encodeContinue } from './continue-token.ts'

const token = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url')

describe('a continue token', () => {
  it('is decoded to the position it was created for', () => {
    const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/)
    const start = fc.oneof(
      name,
      fc.tuple(name, name).map(([namespace, object]) => `${namespace}/${object}`),
    )
    const revision = fc.oneof(fc.constant(-1), fc.integer({ min: 1 }))
    fc.assert(
      fc.property(revision, start, (at, after) => {
        expect(decodeContinue(encodeContinue({ revision: at, start: after }))).toEqual({ revision: at, start: after })
      }),
    )
  })

  it.each(['/../secrets', 'a/../../x', '/a//b', './a'])('cannot lead to %s', (start) => {
    expect(() => decodeContinue(token({ v: 'meta.k8s.io/v1', rv: 1, start: `${start}\u0000` }))).toThrow(
      'continue key is not valid',
    )
  })

  it.each([{ toString: {} }, [{ toString: 1 }], 7, null])('is rejected when its version is not a string: %j', (v) => {
    expect(() => decodeContinue(token({ v, rv: 1, start: 'a' }))).toThrow('does not recognize this encoded version')
  })

  it('is rejected with a message, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(text !== '')
        expect(() => decodeContinue(text)).toThrow('invalid continue token: continue key is not valid')
      }),
    )
  })
})
