import { expect, it } from 'vitest'
import { redactedLog } from './log-lines.ts'

const redact = (text: string) => text.replaceAll('hunter22', '[redacted]')

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function collect(blocks: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const block of blocks) found.push(block)
  return found
}

it('secrets in a log are found whatever pieces it arrives in', async () => {
  const text = 'über\npassword hunter22\nhunter22'
  for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
    const blocks = await collect(redactedLog(pieces(text, size), redact))
    expect(blocks.join('')).toBe('über\npassword [redacted]\n[redacted]')
  }
})

it('lines of a log are passed on in blocks of bounded size', async () => {
  const text = `${'x'.repeat(99)}\n`.repeat(5_000)
  const blocks = await collect(redactedLog(pieces(text, 1_000), redact))
  expect(blocks.join('')).toBe(text)
  expect(blocks.length).toBeLessThan(10)
  expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(70_000)
  expect(await collect(redactedLog(pieces('', 1), redact))).toEqual([])
})

it('what came before an error of a log is passed on, then the error', async () => {
  async function* cut() {
    yield* pieces('one\npassword hunter22\nthr', 3)
    throw new Error('the node is gone')
  }
  const found: string[] = []
  const read = async () => {
    for await (const block of redactedLog(cut(), redact)) found.push(block)
  }
  await expect(read()).rejects.toThrow('the node is gone')
  expect(found.join('')).toBe('one\npassword [redacted]\nthr')
})
