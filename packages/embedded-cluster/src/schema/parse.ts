/** Reads request bodies of JSON into values, with the duplicate fields their author should hear about. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { findDuplicates, scanJson } from './json-scan.ts'

/** A body and what is odd about it. */
export interface ParsedBody {
  readonly value: JsonValue
  /** Paths of fields given more than once, such as `data.a`; the last one counts. Computed when first read. */
  readonly duplicates: readonly string[]
  /** The same fields in the words of the real server's YAML reader, with their lines. Only bodies of requests have them. */
  readonly duplicateKeys?: readonly string[]
  /** Whether the client declared the body to be YAML. @default false */
  readonly isYaml?: boolean
}

/** No object of the API is nested anywhere near as deep; deeper input only serves to exhaust the stack. */
export const maxDepth = 1000

/** An escape that may stand for half a character, which no text on the wire can hold. */
const loneSurrogate = /\\u[dD][89a-fA-F]/
const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

/**
 * Parses JSON.
 *
 * *Errors*: StatusError 400 when the text is not JSON, nested too deep or has a number that is too large.
 */
export function parseJson(text: string): ParsedBody {
  // A text shorter than its brackets would be cannot be too deep, and small bodies are the common case. Others are scanned
  // before any value is built.
  const scan = text.length > 2 * maxDepth ? scanJson(text) : undefined
  if (scan !== undefined && scan.depth > maxDepth) throw tooDeep('JSON')
  let value: JsonValue
  try {
    value = JSON.parse(text, loneSurrogate.test(text) ? wellFormed : undefined)
  } catch (error) {
    throw unreadable('JSON', error instanceof Error ? error.message : String(error), error)
  }
  // Counted now: callers may change the value before they check for duplicates.
  const distinctFields = countFields(value)
  return new LazyBody(value, () => {
    const { fields } = scan ?? scanJson(text)
    return fields === distinctFields ? [] : findDuplicates(text)
  })
}

/** A body whose duplicate fields are searched for when they are first read. */
class LazyBody implements ParsedBody {
  readonly value: JsonValue
  readonly #find: () => readonly string[]
  #duplicates: readonly string[] | undefined

  constructor(value: JsonValue, find: () => readonly string[]) {
    this.value = value
    this.#find = find
  }

  get duplicates(): readonly string[] {
    this.#duplicates ??= this.#find()
    return this.#duplicates
  }
}

/** 400: the text is not of this format. */
export function unreadable(format: string, reason: string, cause: unknown): StatusError {
  return new StatusError(400, 'BadRequest', `the request body is not valid ${format}: ${reason}`, undefined, { cause })
}

/** 400. */
export function tooDeep(format: string): StatusError {
  return new StatusError(
    400,
    'BadRequest',
    `the ${format} in the request body is nested deeper than ${maxDepth} levels`,
  )
}

/** Counts fields, and rejects numbers that are JSON but larger than any number can be: they would be stored as null. */
function countFields(value: JsonValue): number {
  let count = 0
  if (typeof value === 'number' && !Number.isFinite(value)) throw unreadable('JSON', 'a number is too large', undefined)
  if (Array.isArray(value)) {
    for (const item of value) count += countFields(item)
  } else if (isJsonObject(value)) {
    for (const name in value) count += 1 + countFields(value[name] ?? null)
  }
  return count
}
