import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SecretFilter } from './secret-filter.ts'

it('the filter of secrets takes a secret out in every form in which it travels', () => {
  const filter = new SecretFilter('dt0c01.AB+C/1')
  const text = `a dt0c01.AB+C/1 b ${encodeURIComponent('dt0c01.AB+C/1')} c ${Buffer.from('dt0c01.AB+C/1').toString('base64')}`
  expect(filter.clean(text)).toBe('a [redacted] b [redacted] c [redacted]')
})

it('the filter of secrets removes the longer of two secrets that overlap', () => {
  expect(new SecretFilter('abcd', 'abcdefgh').clean('abcdefgh')).toBe('[redacted]')
})

it('the filter of secrets leaves ordinary words unchanged when a secret is too short', () => {
  expect(new SecretFilter('', undefined, 'a').clean('a plain text')).toBe('a plain text')
})

it('the filter of secrets never leaks one, wherever it is', () => {
  const secret = fc.stringMatching(/^[a-zA-Z0-9.]{8,40}$/)
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      expect(new SecretFilter(value).clean(before + value + after)).not.toContain(value)
    }),
  )
})
