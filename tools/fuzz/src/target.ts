/** What a fuzz target is: one parser, its inputs, and what must hold for all of them. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Arbitrary } from 'fast-check'

/** One parser of untrusted input; {@link fuzz} makes a test of it. */
export interface FuzzTarget {
  /** Inputs that are close to valid: they reach what random bytes never would. */
  readonly inputs: Arbitrary<string | Uint8Array>
  /** Further inputs: the first to be run, and edited like the others. */
  readonly seeds?: readonly (string | Uint8Array)[]
  /** Words of the language, for edits to insert. */
  readonly dictionary?: readonly string[]
  /** Inputs are JSON texts: edits then also change the value, not only its text. @default false */
  readonly isJson?: boolean
  /** Larger inputs are cut. @default 64 KiB */
  readonly maxBytes?: number
  /** Other forms in which the parser gets an input: each is run as well, and judged by its own size. */
  readonly packed?: readonly ((input: Uint8Array) => Uint8Array)[]
  /**
   * Parses one input. Whatever it throws is a finding, so refusals that the parser documents are caught with `attempt`,
   * and broken laws are thrown with `broken`.
   */
  readonly run: (input: Uint8Array) => unknown
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

/**
 * Seeds from all files in a folder.
 *
 * @example
 * seeds: filesIn(new URL('./corpus/kubeconfig/', import.meta.url))
 */
export function filesIn(folder: URL): readonly Uint8Array[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(new URL(name, folder)))
}

type ErrorClass = abstract new (...args: never[]) => Error

/**
 * The result of a parser, `undefined` when it refused the input with an error of these classes. All other errors are
 * crashes.
 *
 * @example
 * const parsed = attempt(() => parseQuantity(text), QuantityError)
 * if (parsed === undefined) return
 */
export function attempt<T>(parse: () => T, ...refusals: readonly ErrorClass[]): { readonly value: T } | undefined {
  try {
    return { value: parse() }
  } catch (error) {
    if (refusals.some((one) => error instanceof one)) return undefined
    throw error
  }
}

/** As {@link attempt}, for parsers that return a promise. */
export async function attemptAsync<T>(
  parse: () => Promise<T>,
  ...refusals: readonly ErrorClass[]
): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await parse() }
  } catch (error) {
    if (refusals.some((one) => error instanceof one)) return undefined
    throw error
  }
}
