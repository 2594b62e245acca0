/** Properties that are unpacked when they are read. */
import { inspect } from 'node:util'
import { exactObject, setField } from './exact-object.ts'
import { type Layout, type PackedFields, unpackFields } from './layout.ts'

type Fields = Readonly<Record<string, unknown>>

/** The large fields of objects and of their metadata. What selectors, indexes and handlers read is not among them. */
const NAMES: readonly string[] = ['spec', 'status', 'data', 'binaryData', 'annotations', 'managedFields']

/** Where an object keeps its packed fields. Not enumerable: copies and comparisons do not see it. */
const PACKED = Symbol('packed fields')

/**
 * One getter for all objects: with a getter each, or even one for each cache, the engine would give up to describe
 * equal objects by one hidden class, and each would take five times the memory.
 */
const DESCRIPTORS: ReadonlyMap<string, PropertyDescriptor> = new Map(
  NAMES.map((name) => {
    const get = function (this: Unpackable) {
      return this[PACKED].read()[name]
    }
    return [name, { get, enumerable: true, configurable: false }]
  }),
)

/** What `console.log` shows: values instead of getters. */
const INSPECT: PropertyDescriptor = {
  get() {
    return inspectFields
  },
  enumerable: false,
  configurable: false,
}

function inspectFields(this: object, _depth: number, options: object): string {
  return inspect({ ...this }, options)
}

interface Unpackable {
  readonly [PACKED]: UnpackedFields
}

/** Whether a field of this name can be packed. */
export function canBePacked(name: string): boolean {
  return DESCRIPTORS.has(name)
}

/**
 * Copies an object, with properties for its packed fields.
 *
 * *Guarantees*: two reads return the same value for as long as anybody has the first; values are frozen.
 */
export function withPackedFields(object: Fields, packed: PackedFields, recent: RecentlyRead): Record<string, unknown> {
  const { names } = packed.layout
  const keys = Object.keys(object)
  // Getters take no room; the packed fields do.
  const copy = exactObject(keys.length - names.length + 1)
  for (const key of keys) {
    const descriptor = names.includes(key) ? DESCRIPTORS.get(key) : undefined
    if (descriptor === undefined) setField(copy, key, object[key])
    else Object.defineProperty(copy, key, descriptor)
  }
  Object.defineProperty(copy, PACKED, { value: new UnpackedFields(packed, recent), enumerable: false })
  Object.defineProperty(copy, inspect.custom, INSPECT)
  return copy
}

/** Packed fields, and what was built from them. */
class UnpackedFields implements PackedFields {
  readonly layout: Layout
  readonly text: string
  readonly #recent: RecentlyRead
  /** Weak once others were read more recently: whoever has the fields keeps them, and reads the same again. */
  #fields: Fields | WeakRef<Fields> | undefined

  constructor({ layout, text }: PackedFields, recent: RecentlyRead) {
    this.layout = layout
    this.text = text
    this.#recent = recent
  }

  /** Roughly what the fields take when they are unpacked. */
  get bytes(): number {
    return this.text.length + 40 * this.layout.code.length
  }

  read(): Fields {
    const known = this.#fields
    if (known !== undefined && !(known instanceof WeakRef)) return known
    const fields = known?.deref() ?? unpackFields(this)
    this.#fields = fields
    this.#recent.add(this)
    return fields
  }

  /** Keeps the fields only for those who have them. */
  weaken(): void {
    if (this.#fields !== undefined && !(this.#fields instanceof WeakRef)) this.#fields = new WeakRef(this.#fields)
  }
}

/** The objects whose fields stay unpacked because they were read most recently. */
export class RecentlyRead {
  readonly #fields = new Set<UnpackedFields>()
  readonly #maxCount: number
  readonly #maxBytes: number
  #bytes = 0

  /**
   * @param maxCount how many
   * @param maxBytes roughly how much they may take
   */
  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount
    this.#maxBytes = maxBytes
  }

  /** Adds fields that are not among them. */
  add(fields: UnpackedFields): void {
    this.#fields.add(fields)
    this.#bytes += fields.bytes
    for (const oldest of this.#fields) {
      if (this.#fields.size <= this.#maxCount && this.#bytes <= this.#maxBytes) return
      this.#fields.delete(oldest)
      this.#bytes -= oldest.bytes
      oldest.weaken()
    }
  }
}
