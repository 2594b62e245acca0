import { expect, it } from 'vitest'
import { releaseMemory } from './release-memory.ts'

it('chunks that own their memory are freed, and those that share it are not', () => {
  const whole = new Uint8Array(1_000)
  const shared = new Uint8Array(1_000)
  const part = shared.subarray(0, 999)
  const pooled = Buffer.from('small')
  releaseMemory([whole, part, pooled, new Uint8Array(0)])
  expect(whole.byteLength).toBe(0)
  expect([shared.byteLength, part.byteLength, pooled.toString()]).toEqual([1_000, 999, 'small'])
})
