/** Makes inputs: some from the target's description, most by changing inputs of the corpus. */
import fc, { type Arbitrary } from 'fast-check'
import { byteMutations, mutateBytes } from './byte-mutations.ts'
import type { Corpus } from './corpus.ts'
import { DEFAULT_MAX_INPUT_BYTES } from './defaults.ts'
import { jsonMutations, mutateJson } from './json-mutations.ts'
import type { FuzzTarget } from './target.ts'

/**
 * An arbitrary over inputs that draws on the current corpus. The same seed gives the same inputs as
 * long as the corpus grows in the same way.
 *
 * @example
 * const [input] = fc.sample(inputsFor(target, corpus), { seed: 1, numRuns: 1 })
 */
export function inputsFor(
  target: FuzzTarget,
  corpus: Corpus,
  maxInputBytes = Number.POSITIVE_INFINITY,
): Arbitrary<Buffer> {
  const { dictionary = [], isJson = false } = target
  const maxBytes = Math.min(target.maxBytes ?? DEFAULT_MAX_INPUT_BYTES, maxInputBytes)
  const described = target.inputs.map((input) => Buffer.from(input))
  const stored = fc.nat().map((number) => corpus.pick(number))
  const start = fc.oneof({ weight: 3, arbitrary: stored }, { weight: 1, arbitrary: described })
  const edits = fc.array(byteMutations(dictionary), { minLength: 1, maxLength: 5 })
  const mutated = fc
    .tuple(start, stored, edits)
    .map(([input, other, mutations]) =>
      mutations.reduce((made, one) => mutateBytes(made, one, other).subarray(0, maxBytes), input),
    )
  const changes = fc.array(jsonMutations(dictionary), { minLength: 1, maxLength: 5 })
  const mutatedJson = fc.tuple(start, stored, changes).map(([input, other, mutations]) => {
    const text = mutateJson(input.toString('utf8'), mutations, other)
    return text === undefined ? input : Buffer.from(text)
  })
  return fc
    .oneof(
      { weight: 3, arbitrary: described },
      { weight: isJson ? 2 : 6, arbitrary: mutated },
      { weight: isJson ? 5 : 0, arbitrary: mutatedJson },
    )
    .map((input) => input.subarray(0, maxBytes))
}
