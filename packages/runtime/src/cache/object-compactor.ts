/** Prepares objects for a cache: frozen, so that all readers can share them, and as small as possible until they are read. */
import { FieldPacker } from './field-packer.ts'
import { SeenParts } from './recent-values.ts'
import { SHARING_LIMITS, SharedValues, type SharingLimits } from './shared-values.ts'
import { hashString } from './structure-outline.ts'
import { canBePacked, RecentlyRead, withPackedFields } from './unpacked-fields.ts'

/** Smaller fields are not worth being packed. */
const MIN_PACKED_BYTES = 256

/** What an {@link ObjectCompactor} remembers. */
export interface CompactionLimits extends SharingLimits {
  /** Objects whose fields stay unpacked after they were read. @default 256 */
  readonly maxUnpacked: number
  /** Roughly what those fields may take. @default 2 MiB */
  readonly maxUnpackedBytes: number
}

/** Defaults of {@link CompactionLimits}. */
export const COMPACTION_LIMITS: CompactionLimits = Object.freeze({
  ...SHARING_LIMITS,
  maxUnpacked: 256,
  maxUnpackedBytes: 2 * 1024 * 1024,
})

type Fields = Record<string, unknown>

/**
 * Freezes objects, shares their equal parts, and packs what is left of their large fields until somebody reads them.
 *
 * *Guarantees*: an object looks as before, to `JSON.stringify`, spread, comparisons and `console.log` alike; what it
 * remembers is bounded by {@link CompactionLimits}, whatever is cached.
 *
 * @example
 * const pod = new ObjectCompactor().compact(JSON.parse(text))
 */
export class ObjectCompactor {
  readonly #seen: SeenParts
  readonly #values: SharedValues
  readonly #packer: FieldPacker
  readonly #recent: RecentlyRead

  constructor(limits: CompactionLimits = COMPACTION_LIMITS) {
    this.#seen = new SeenParts(limits.maxSeen)
    this.#values = new SharedValues(this.#seen, limits)
    this.#packer = new FieldPacker(this.#seen, this.#values)
    this.#recent = new RecentlyRead(limits.maxUnpacked, limits.maxUnpackedBytes)
  }

  /** How many parts are kept for later objects. */
  get keptParts(): number {
    return this.#values.size
  }

  /**
   * A frozen object that is equal to `object`; what `object` consists of is frozen as well, and may be part of the
   * result. Frozen values are assumed to be frozen all the way down, and are taken as they are.
   */
  compact<T extends object>(object: T): T {
    if (Object.isFrozen(object)) return object
    const fields = object as Fields // what it is to this class, whatever its type says
    const { metadata } = fields
    if (!isObject(metadata) || Object.isFrozen(metadata)) return this.#compact(fields, 0) as T
    this.#seen.enter(hashString(String(metadata.uid ?? metadata.name)))
    const family = familyOf(fields, metadata)
    fields.metadata = this.#compact(metadata, family + 1)
    return this.#compact(fields, family) as T
  }

  #compact(object: Fields, family: number): Fields {
    const expected = this.#packer.packExpected(family, object)
    this.#packer.begin()
    for (const key in object) {
      const value = object[key]
      if (typeof value === 'string') object[key] = this.#values.shareString(value)
      else if (isObject(value) && !Object.isFrozen(value) && !expected?.layout.names.includes(key)) {
        object[key] = this.#share(key, value, expected === undefined)
      }
    }
    const packed = expected ?? this.#packer.finish(family)
    if (packed !== undefined) return Object.freeze(withPackedFields(object, packed, this.#recent))
    for (const key in object) freezeDeep(object[key])
    return Object.freeze(object)
  }

  /** What takes the place of the value of a field, unless it is packed. */
  #share(key: string, value: object, mayPack: boolean): object {
    if (!this.#values.begin(value)) return freezeDeep(value)
    const known = this.#values.find(value)
    if (known !== undefined) return known
    if (!mayPack || this.#values.nextBytes < MIN_PACKED_BYTES || !canBePacked(key)) return this.#values.share(value)
    this.#packer.add(key, value)
    return value
  }
}

/** Equal for objects that are probably built alike: those of one owner, or those without an owner of one kind. */
function familyOf({ kind }: Fields, { ownerReferences }: Fields): number {
  const owner: unknown = Array.isArray(ownerReferences) ? ownerReferences[0] : undefined
  return hashString(String(isObject(owner) ? owner.uid : kind))
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** Freezes a value and everything inside it, however deep. */
function freezeDeep<T>(value: T): T {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const child of Object.values(next)) waiting.push(child)
  }
  return value
}
