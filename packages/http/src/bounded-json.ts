/** Parses untrusted JSON within limits that are checked before any value is built. */
import { HttpError } from './http-error.ts'

/** Limits of a JSON text. */
export interface JsonLimits {
  /** Levels of objects and lists. @default 1_000 */
  readonly maxDepth?: number
  /** Objects, lists and fields together. @default 1_000_000 */
  readonly maxNodes?: number
  /** Items of lists and fields of objects, beyond the first of each. @default 1_000_000 */
  readonly maxItems?: number
}

/** The default limits: far above real objects, far below what exhausts the stack. */
export const JSON_LIMITS = Object.freeze({ maxDepth: 1_000, maxNodes: 1_000_000, maxItems: 1_000_000 })

/** A JSON text exceeds {@link JsonLimits}. The message names the limit and never quotes the text. */
export class JsonLimitError extends HttpError {
  override readonly name = 'JsonLimitError'
  override readonly code = 'HTTP_JSON_LIMIT'
}

/**
 * Parses UTF-8 JSON.
 *
 * *Guarantees*: uses no stack, however deep the text is; memory is bounded by the size, `maxNodes` and
 * `maxItems`. A field named
 * `__proto__` becomes a field and changes no prototype.
 *
 * *Errors*: {@link JsonLimitError} beyond the limits, `SyntaxError` for invalid JSON. The message of the latter quotes
 * the text.
 *
 * @example
 * const review = parseBoundedJson(body, { maxDepth: 100 })
 */
export function parseBoundedJson(bytes: Uint8Array, limits: JsonLimits = {}): unknown {
  const { maxDepth, maxNodes, maxItems } = { ...JSON_LIMITS, ...limits }
  let depth = 0
  let nodes = 0
  let items = 0
  visitStructure(bytes, (byte) => {
    if (byte === COMMA) {
      if (++items > maxItems) throw new JsonLimitError(`more than ${maxItems} items`)
      return
    }
    if (isClosing(byte)) {
      depth--
      return
    }
    if (byte !== COLON && ++depth > maxDepth) throw new JsonLimitError(`nested deeper than ${maxDepth} levels`)
    if (++nodes > maxNodes) throw new JsonLimitError(`more than ${maxNodes} objects, lists and fields`)
  })
  return JSON.parse(decode(bytes))
}

/**
 * The text with `null` in place of every object and list below `maxDepth` levels: enough to identify the sender of a
 * text that exceeds the limits.
 *
 * @example
 * outlineJson(Buffer.from('{"uid":"1","object":{"spec":[]}}'), 1) // {"uid":"1","object":null}
 */
export function outlineJson(bytes: Uint8Array, maxDepth: number): Uint8Array {
  const kept: Uint8Array[] = []
  let depth = 0
  let start = 0
  visitStructure(bytes, (byte, position) => {
    if (byte === COLON || byte === COMMA) return
    if (isClosing(byte)) {
      if (depth-- === maxDepth + 1) start = position + 1
    } else if (++depth === maxDepth + 1) kept.push(bytes.subarray(start, position), NULL)
  })
  if (depth <= maxDepth) kept.push(bytes.subarray(start))
  return Buffer.concat(kept)
}

const NULL = Buffer.from('null')
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Visits the brackets, braces, colons and commas outside strings. In UTF-8 no byte of another character looks like one. */
function visitStructure(bytes: Uint8Array, visit: (byte: number, position: number) => void): void {
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position]
    switch (byte) {
      case QUOTE:
        position = endOfString(bytes, position)
        break
      case COMMA:
      case COLON:
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        visit(byte, position)
        break
      default:
    }
  }
}

function isClosing(byte: number): boolean {
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET
}

/** The position of the quote that ends the string which begins at `start`, or the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let position = start + 1; position < bytes.length; position++) {
    const byte = bytes[position]
    if (byte === QUOTE) return position
    // An escaped character does not end the string.
    if (byte === BACKSLASH) position++
  }
  return bytes.length
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
