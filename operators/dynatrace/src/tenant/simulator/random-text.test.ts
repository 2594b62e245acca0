import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskToken, publicPart, randomToken, randomUuid, systemRandom } from './random-text.ts'

test('a token is named by its public part, and only that is shown', () => {
  const token = randomToken(systemRandom, 'dt0c01')
  const [prefix, name, secret = ''] = token.split('.')
  expect(token).toMatch(/^dt0c01\.[A-Z2-7]{24}\.[A-Z2-7]{64}$/)
  expect(publicPart(token)).toBe(`${prefix}.${name}`)
  expect(maskToken(token)).not.toContain(secret)
})

test('nothing is shown of what does not look like a token', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(maskToken(`x${text}`)).toBe('••••••')
    }),
  )
  expect(['dt0c01.NAME', 'dt0c01.NAME.', 'dt0c01', ''].map(maskToken)).toEqual(Array(4).fill('••••••'))
})

test('the same random bytes give the same identifiers', () => {
  const zeros = (sizeBytes: number) => new Uint8Array(sizeBytes)
  expect(randomUuid(zeros)).toBe('00000000-0000-4000-8000-000000000000')
  expect(randomToken(zeros, 'dt0g02')).toBe(`dt0g02.${'A'.repeat(24)}.${'A'.repeat(64)}`)
})
