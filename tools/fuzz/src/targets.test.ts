/** Runs every target briefly, to catch changes that make a parser crash, hang or leak. */
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { FuzzThread } from './fuzz-thread.ts'
import { findTargets } from './load-target.ts'
import { runTarget } from './run-target.ts'

/** Together the targets take a few seconds of CPU; `npm run fuzz` takes all it is given. */
const BOUNDS = { seed: 1, maxRuns: 60, maxMs: 20_000, maxInputBytes: 4_096 }

const files = findTargets(fileURLToPath(new URL('../../..', import.meta.url)))
// One thread for all of them: they share most of what they load.
const thread = new FuzzThread()
afterAll(() => thread[Symbol.asyncDispose]())

describe('untrusted input of', () => {
  it.each(files)('$name neither crashes, hangs nor swells', async (file) => {
    const { findings, progress } = await runTarget(file, thread, BOUNDS)
    const shown = findings.map(({ problem, input }) => ({ ...problem, input: Buffer.from(input).toString() }))
    expect(shown).toEqual([])
    expect(progress.runs).toBeGreaterThan(0)
  })
})
