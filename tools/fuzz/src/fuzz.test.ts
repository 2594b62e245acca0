import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { search } from './fuzz.ts'
import { broken } from './law.ts'
import { attempt, type FuzzTarget, textOf } from './target.ts'

class RefusedError extends Error {}

/** Has one bug of every kind that does not end the process, each of which a text names. */
function fragile(input: Uint8Array): void {
  const text = textOf(input)
  if (text.includes('crash')) throw new TypeError('cannot read this')
  if (text.includes('law')) throw broken('nothing says law', text)
  if (text.includes('pollute')) Object.assign(Object.prototype, { polluted: true })
  if (text.includes('warn')) process.emitWarning('careful')
  if (text.includes('slow')) spend(300)
  if (text.includes('greedy')) Buffer.alloc(100 * 1024 * 1024)
  attempt(() => {
    if (text.includes('refuse')) throw new RefusedError()
  }, RefusedError)
}

function spend(cpuMs: number): void {
  const before = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(before)
    if (user + system > cpuMs * 1_000) return
  }
}

/** The message of what a search finds. */
async function finding(target: Partial<FuzzTarget>, options: Parameters<typeof search>[2] = {}): Promise<string> {
  const inputs = fc.constantFrom('fine', 'refuse')
  return search('fragile', { inputs, run: fragile, ...target }, options).then(
    () => 'nothing',
    (error: unknown) => String(error),
  )
}

describe('a search', () => {
  it.each([
    ['crash', 'FindingError: TypeError: cannot read this'],
    ['law', 'FindingError: Error: nothing says law: "law"'],
    ['pollute', 'FindingError: JudgementError: pollution: Object.prototype.polluted changed'],
    ['warn', 'FindingError: JudgementError: warning: careful'],
    ['slow', 'FindingError: JudgementError: slow: 3'],
    ['greedy', 'FindingError: JudgementError: memory: 100.0 MiB for 6 bytes; 48.0 MiB are allowed'],
  ])('that gets to an input that says %s finds it', async (seed, message) => {
    expect(await finding({ seeds: [seed] })).toContain(message)
  })

  it('finds nothing in a parser that fails only as documented', async () => {
    expect(await finding({})).toBe('nothing')
  })

  it('replays a finding by its seed and path, and by its file', async () => {
    const target = { dictionary: ['crash'] }
    const message = await finding(target, { seed: 7, maxMs: 60_000 })
    const [, seed, path] = /--seed (\d+) --path ([\d:]+)/.exec(message) ?? []
    expect(await finding(target, { seed: Number(seed), path: path ?? '' })).toBe(message)
    expect(await readFile('.reeve/fuzz/fragile', 'utf8')).toContain('crash')
    expect(await finding({}, { input: '.reeve/fuzz/fragile' })).toBe('TypeError: cannot read this')
  })

  it('judges a packed input by the size of the packing', async () => {
    const run = (input: Uint8Array) => spend(input.length > 4_096 ? 0 : 300)
    const target = { run, seeds: ['x'.repeat(8_192)] }
    expect(await finding({ ...target, packed: [() => Buffer.from('small')] })).toContain('for 5 bytes')
  })
})
