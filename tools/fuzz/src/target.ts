/** What a fuzz target is: one parser, its inputs, and their allowed outcomes. */
import type { Arbitrary } from 'fast-check'

/**
 * One parser of untrusted input. A file `packages/<name>/fuzz/<target>.fuzz.ts` (or below `operators`) exports one as
 * `target`; the seeds of its corpus lie beside it in `corpus/<target>/`.
 *
 * @example
 * export const target: FuzzTarget = {
 *   description: 'label selectors of list and watch requests',
 *   inputs: fc.stringMatching(/^[a-z]+(=|!=)[a-z]*$/),
 *   dictionary: ['=', '!=', ' in ', '('],
 *   run(input) {
 *     const parsed = attempt(() => parseLabelSelector(textOf(input)), isA(StatusError))
 *     return 'refusal' in parsed ? parsed.refusal : `ok ${parsed.value.length}`
 *   },
 * }
 */
export interface FuzzTarget {
  /** What is parsed, and where it comes from; shown by `--list`. */
  readonly description: string
  /** Inputs that are close to valid: they reach what random bytes never would. */
  readonly inputs: Arbitrary<string | Uint8Array>
  /** Seeds that are better made than stored, such as archives. */
  readonly seeds?: readonly (string | Uint8Array)[]
  /** Words of the language; mutations insert them. */
  readonly dictionary?: readonly string[]
  /** Inputs are JSON texts: mutations then also change the value, not only its text. @default false */
  readonly isJson?: boolean
  /** Larger inputs are cut. @default 64 KiB */
  readonly maxBytes?: number
  /**
   * Parses one input. Returns its outcome as a short text: an input with a new outcome joins the corpus. Whatever it
   * throws is a finding, so refusals that the parser documents are caught with `attempt`, and broken laws are thrown
   * with `broken`.
   */
  readonly run: (input: Uint8Array) => string | Promise<string>
}

const decoder = new TextDecoder()

/**
 * The input as text, as a parser would get it from a socket or file.
 *
 * @example
 * parseSelector(textOf(input))
 */
export function textOf(input: Uint8Array): string {
  return decoder.decode(input)
}
