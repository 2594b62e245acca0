import { SimulatedClock } from '@reeve/http/testing'
import { expect, it } from 'vitest'
import { KnownCopies } from './known-copies.ts'

const KEY = { namespaceUid: 'uid-1', name: 'dynatrace-bootstrapper-config' }

it('a copy is known for seconds', async () => {
  const clock = new SimulatedClock()
  const copies = new KnownCopies(clock)
  expect(copies.has(KEY)).toBe(false)
  copies.add(KEY)
  await clock.advance(4_999)
  expect(copies.has(KEY)).toBe(true)
  await clock.advance(1)
  expect(copies.has(KEY)).toBe(false)
})

it('a namespace that was deleted and created again has no known copies', () => {
  const copies = new KnownCopies(new SimulatedClock())
  copies.add(KEY)
  expect(copies.has({ ...KEY, namespaceUid: 'uid-2' })).toBe(false)
  expect(copies.has({ ...KEY, name: 'dynatrace-bootstrapper-certs' })).toBe(false)
})
