/** Makes a test of a fuzz target: a property on fast-check, judged by what each input costs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import fc, { type Arbitrary } from 'fast-check'
import { it } from 'vitest'
import { editedJson, editedText } from './edits.ts'
import { collectGarbage, Judge, JudgementError, mebibytes, memoryInUse } from './judge.ts'
import type { FuzzTarget } from './target.ts'
import { Watchdog } from './watchdog.ts'

/** How long to search, and where; `npm run fuzz` passes it in the variable `REEVE_FUZZ`. */
export interface Search {
  /** Real time for each target; without it, the search is as brief as in `npm test`. */
  readonly maxMs?: number
  /** Other seed, other inputs. @default 1 */
  readonly seed?: number
  /** Replays one input of this seed, as a finding names it. */
  readonly path?: string
  /** Replays the input in this file. */
  readonly input?: string
}

/** Inputs of a brief search: together the targets take a few seconds of CPU. */
const BRIEF_RUNS = 60

/** Inputs between two looks at the clock. */
const ROUND_RUNS = 1_000

const MAX_INPUT_BYTES = 64 * 1024

/** An input that takes longer waits for something that never comes. */
const MAX_WAIT_MS = 120_000

/** Real time for making a finding smaller. */
const MAX_SHRINK_MS = 60_000

/** Memory that a long search may keep after all of its inputs are done. Before the second round, code is compiled and data loaded. */
const MAX_KEPT_BYTES = 96 * 1024 * 1024

/**
 * Declares the test of a target. It is named like its file, without `.fuzz.test.ts`.
 *
 * @example
 * fuzz('label-selector', {
 *   inputs: fc.stringMatching(/^[a-z]+(=|!=)[a-z]*$/),
 *   dictionary: ['=', '!=', ' in ', '('],
 *   run(input) {
 *     attempt(() => parseLabelSelector(textOf(input)), StatusError)
 *   },
 * })
 */
export function fuzz(name: string, target: FuzzTarget): void {
  const options: Search = JSON.parse(process.env.REEVE_FUZZ ?? '{}')
  const timeout = (options.maxMs ?? 0) + 2 * (MAX_WAIT_MS + MAX_SHRINK_MS)
  it(`${name} neither crashes, hangs nor swells`, { timeout }, ({ signal }) =>
    search(name, target, { ...options, signal }),
  )
}

/**
 * Searches until the time is over.
 *
 * *Errors*: the first finding, made smaller, with the command that replays it.
 */
export async function search(
  name: string,
  { run, packed = [], ...inputs }: FuzzTarget,
  { maxMs, seed = 1, path, input, signal }: Search & { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const findingFile = `.reeve/fuzz/${name}`
  const startedMs = performance.now()
  await using watchdog = new Watchdog(findingFile)
  using judge = new Judge(run, watchdog)
  const arbitrary = inputsOf(inputs)
  const property = fc.asyncProperty(arbitrary, async (bytes) => {
    for (const form of [bytes, ...packed.map((pack) => pack(bytes))]) {
      await judge.judge(form).catch((error: unknown) => {
        throw new FindingError(form, error)
      })
    }
  })
  if (input !== undefined) return await judge.judge(readFileSync(input))
  let keptBytes: number | undefined
  const isOver = () => path !== undefined || signal?.aborted === true || performance.now() - startedMs > (maxMs ?? 0)
  for (let round = 0; round === 0 || !isOver(); round += 1) {
    const details = await fc.check(property, {
      seed: seed + round,
      ...(path !== undefined && { path, endOnFailure: true }),
      examples: (inputs.seeds ?? []).map((one) => [Buffer.from(one)]),
      numRuns: maxMs === undefined ? BRIEF_RUNS : ROUND_RUNS,
      timeout: MAX_WAIT_MS,
      interruptAfterTimeLimit: MAX_SHRINK_MS,
    })
    if (details.counterexample !== null) {
      // Without an error of the judge, it waited for too long.
      const error = details.errorInstance
      const found = error instanceof FindingError ? error : new FindingError(details.counterexample[0], error)
      mkdirSync(dirname(findingFile), { recursive: true })
      writeFileSync(findingFile, found.input)
      const replay = `npm run fuzz -- ${name}`
      found.message += `\nreplay: ${replay} --seed ${details.seed} --path ${details.counterexamplePath}`
      found.message += `\nor, for as long as it exists: ${replay} --input ${findingFile}`
      throw found
    }
    if (round < 2) continue
    collectGarbage()
    keptBytes ??= memoryInUse()
    const leakedBytes = memoryInUse() - keptBytes
    if (leakedBytes > MAX_KEPT_BYTES) {
      throw new JudgementError(`memory: ${mebibytes(leakedBytes)} kept after ${round} rounds: parsed values leak`)
    }
  }
}

/** Described inputs as they are, and edited ones. */
function inputsOf({
  inputs,
  seeds = [],
  dictionary = [],
  isJson = false,
  maxBytes = MAX_INPUT_BYTES,
}: Omit<FuzzTarget, 'run'>): Arbitrary<Buffer> {
  const described = inputs.map((input) => Buffer.from(input))
  const start =
    seeds.length === 0
      ? described
      : fc.oneof(
          described,
          fc.constantFrom(...seeds).map((seed) => Buffer.from(seed)),
        )
  return fc
    .oneof(
      { weight: 3, arbitrary: described },
      { weight: isJson ? 2 : 6, arbitrary: editedText(start, dictionary) },
      { weight: isJson ? 5 : 0, arbitrary: editedJson(start, dictionary) },
    )
    .map((input) => input.subarray(0, maxBytes))
}

/** An input with what it does wrong. */
class FindingError extends Error {
  override readonly name = 'FindingError'
  readonly code = 'FUZZ_FINDING'
  readonly input: Uint8Array

  constructor(input: Uint8Array, cause: unknown) {
    const beginning = JSON.stringify(Buffer.from(input.subarray(0, 300)).toString())
    super(`${String(cause).slice(0, 1_000)}\ninput, ${input.length} bytes: ${beginning}`, { cause })
    this.input = input
  }
}
