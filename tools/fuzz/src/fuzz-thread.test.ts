import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { FuzzThread } from './fuzz-thread.ts'
import { minimiseFinding, problemWith, runTarget } from './run-target.ts'

const path = fileURLToPath(new URL('./testing/fragile.fuzz.ts', import.meta.url))
const file = { name: 'fragile', path }
const thread = new FuzzThread()
const impatient = new FuzzThread({ hangFloorMs: 1_000 })
afterAll(() => Promise.all([thread, impatient].map((one) => one[Symbol.asyncDispose]())))

describe('an input', () => {
  it.each([
    ['fine', undefined],
    ['refuse', undefined],
    ['crash', 'crash'],
    ['law', 'law'],
    ['pollute', 'pollution'],
    ['slow', 'slow'],
    ['greedy', 'memory'],
    ['exhaust', 'memory'],
    ['fine', undefined],
  ])('that says %s has the problem %s', async (text, kind) => {
    expect((await problemWith(file, thread, Buffer.from(text)))?.kind).toBe(kind)
  })

  it('that shows a problem is made as small as possible', async () => {
    const input = Buffer.from('{"a": [1, 2, 3], "b": {"c": "the crash is in here"}}')
    const problem = await problemWith(file, thread, input)
    if (problem === undefined) throw new Error('no problem')
    const small = await minimiseFinding(file, thread, { problem, input })
    expect(Buffer.from(small.input).toString()).toBe('crash')
  })
})

describe('a search', () => {
  const bounds = { seed: 1, maxRuns: 200, maxMs: 60_000 }

  it('starts with the seeds, reports each problem once and continues although its thread hangs', async () => {
    const learned = ['crash 1', 'crash 2', 'hang', 'law'].map((text) => Buffer.from(text))
    const { findings, progress } = await runTarget(file, impatient, { ...bounds, learned })
    expect(findings.map(({ problem }) => problem.kind)).toEqual(['crash', 'hang'])
    expect(findings[1]?.input).toEqual(new Uint8Array(Buffer.from('hang')))
    expect(progress.runs).toBe(200)
  })

  it('notices what the parser writes to the standard error', async () => {
    const { findings } = await runTarget(file, thread, { ...bounds, learned: [Buffer.from('warn')] })
    expect(findings.map(({ problem }) => problem.kind)).toContain('warning')
  })

  it('makes the same inputs of the same seed', async () => {
    const lessons = async () => {
      const seen: string[] = []
      const onLearned = (input: Uint8Array) => seen.push(Buffer.from(input).toString('base64'))
      await runTarget(file, thread, { ...bounds, learned: [Buffer.from('refuse me')], onLearned })
      return seen
    }
    expect(await lessons()).toEqual(await lessons())
  })
})
