import { expect, it } from 'vitest'
import { validateSecret } from './configuration.ts'

const secret = (value: string) => ({ metadata: { name: 'a' }, type: 'Opaque', data: { key: value } })

it('the bytes of a Secret are counted as they are once decoded', () => {
  const largest = Buffer.alloc(1024 * 1024, 'x')
  const tooLarge = Buffer.alloc(1024 * 1024 + 1, 'x')
  expect(validateSecret(secret(largest.toString('base64')), undefined)).toEqual([])
  expect(validateSecret(secret(tooLarge.toString('base64')), undefined)).toMatchObject([
    { reason: 'FieldValueTooLong' },
  ])
})

it('the padding of a Secret is counted in time that grows with it only', () => {
  // Restarting at each sign would take minutes.
  expect(validateSecret(secret(`${'='.repeat(500_000)}A`), undefined)).toEqual([])
})
