import { constants, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HeaderReader, HeaderWriter } from './header-blocks.ts'
import { HEADER_DICTIONARY } from './header-dictionary.ts'

const length = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const compressed = (...parts: readonly (Buffer | string)[]) =>
  deflateSync(Buffer.concat(parts.map((part) => Buffer.from(part))), {
    dictionary: HEADER_DICTIONARY,
    finishFlush: constants.Z_SYNC_FLUSH,
  })

describe('header blocks of SPDY', () => {
  it('use the dictionary of the protocol', () => {
    expect(HEADER_DICTIONARY.length).toBe(1423)
  })

  it('are read with names in lower case', async () => {
    const block = compressed(length(2), length(4), 'Port', length(4), '8080', length(1), 'x', length(0))
    expect([...(await new HeaderReader().read(block))]).toEqual([
      ['port', '8080'],
      ['x', ''],
    ])
    expect((await new HeaderReader().read(await new HeaderWriter().empty())).size).toBe(0)
  })

  it('are rejected when they are malformed, end early or grow too large', async () => {
    await expect(new HeaderReader().read(Buffer.from('nonsense'))).rejects.toThrow()
    await expect(new HeaderReader().read(compressed(length(1), length(99), 'port'))).rejects.toThrow('ends early')
    const bomb = compressed(length(1), length(1_000_000), Buffer.alloc(1_000_000))
    await expect(new HeaderReader().read(bomb)).rejects.toThrow('too large')
  })
})
