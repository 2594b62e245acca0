import { expect, it } from 'vitest'
import { CertificateKeys } from './certificate-keys.ts'
import type { Keys } from './self-signed.ts'

/** Generates keys when the test says so; they are numbers here. */
function source() {
  const begun: PromiseWithResolvers<Keys>[] = []
  const keys = new CertificateKeys(() => {
    const next = Promise.withResolvers<Keys>()
    begun.push(next)
    return next.promise
  })
  const end = (index: number) => begun[index]?.resolve(index as unknown as Keys)
  return { keys, begun, end }
}

it('keys of certificates are generated before they are taken, and new ones only when none is left', async () => {
  const { keys, begun, end } = source()
  keys.prepare(2)
  expect(begun).toHaveLength(2)
  const taken = [keys.take(), keys.take(), keys.take()]
  expect(begun).toHaveLength(3)
  for (const index of [2, 1, 0]) end(index)
  await expect(Promise.all(taken)).resolves.toEqual([0, 1, 2])
})

it('keys of certificates are prepared once, however often a DynaKube fails before it needs them', async () => {
  const { keys, begun, end } = source()
  for (let attempt = 0; attempt < 5; attempt += 1) {
    keys.prepare(2)
    end(0)
    end(1)
    await Promise.resolve()
  }
  expect(begun).toHaveLength(2)
})

it('keys of certificates are not prepared while others are being generated', () => {
  const { keys, begun } = source()
  void keys.take()
  void keys.take()
  keys.prepare(2)
  expect(begun).toHaveLength(2)
})

it('keys of certificates that could not be prepared fail the certificate that takes them', async () => {
  const { keys, begun } = source()
  keys.prepare(1)
  begun[0]?.reject(new Error('no entropy'))
  await expect(keys.take()).rejects.toThrow('no entropy')
})
