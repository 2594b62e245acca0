/** A target with one bug of every kind, for the tests of the search itself. */
import fc from 'fast-check'
import { attempt, broken, type FuzzTarget, isA, textOf } from '../index.ts'

class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

export const target: FuzzTarget = {
  description: 'text that names the bug to show',
  inputs: fc.constantFrom('fine', 'refuse'),
  run(input) {
    const text = textOf(input)
    if (text.includes('crash')) throw new TypeError('cannot read this')
    if (text.includes('law')) throw broken('nothing says law', text)
    if (text.includes('pollute')) Object.assign(Object.prototype, { polluted: true })
    if (text.includes('warn')) process.emitWarning('careful')
    if (text.includes('hang')) for (;;) Math.random()
    if (text.includes('slow')) spend(300)
    if (text.includes('exhaust')) hoard()
    if (text.includes('greedy')) return String(Buffer.alloc(100 * 1024 * 1024).length)
    const parsed = attempt(() => parse(text), isA(RefusedError))
    return 'refusal' in parsed ? parsed.refusal : parsed.value
  },
}

function parse(text: string): string {
  if (text.includes('refuse')) throw new RefusedError(`"${text}" has ${text.length} characters`)
  return 'ok'
}

function spend(cpuMs: number): void {
  const before = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(before)
    if (user + system > cpuMs * 1_000) return
  }
}

function hoard(): never {
  const kept: unknown[] = []
  for (;;) kept.push(new Array(1_000_000).fill(kept.length))
}
