/** Stores equal parts of field ownership once: objects rendered from one template own the same fields. */

/** Beyond it the set is cleared: losing an entry costs memory, never correctness. */
const MAX_PARTS = 4_096

/** Differs from object to object, by the uid of the owner. */
const UNIQUE = 'f:ownerReferences'

type Fields = Readonly<Record<string, unknown>>

/**
 * Shares the parts of `fieldsV1`: what is below `spec`, `data` or the labels is equal in all objects of one template, and
 * takes more memory than the object itself.
 */
export class FieldSharing {
  readonly #parts = new Map<string, unknown>()

  /** An equal value whose parts are shared and frozen. */
  share(fieldsV1: Fields): Fields {
    const shared: Record<string, unknown> = {}
    for (const [name, part] of Object.entries(fieldsV1)) {
      if (name === 'f:metadata' && isFields(part)) shared[name] = this.share(part)
      else shared[name] = name === UNIQUE ? part : this.#part(part)
    }
    return shared
  }

  #part(part: unknown): unknown {
    const text = JSON.stringify(part)
    const known = this.#parts.get(text)
    if (known !== undefined) return known
    if (this.#parts.size >= MAX_PARTS) this.#parts.clear()
    this.#parts.set(text, part)
    return part
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
