/** The values of CEL expressions. */

/** `int` is bigint, `double` is number, `bytes` is Uint8Array, `list` is an array, `map` is a Map. */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelList
  | CelMap
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelType
  | CelOptional
  | CelObject

export type CelList = CelValue[]
export type CelMap = Map<CelValue, CelValue>

/** An unsigned integer. */
export class CelUint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A timestamp, in milliseconds since the epoch. */
export class CelTimestamp {
  readonly epochMs: number
  constructor(epochMs: number) {
    this.epochMs = epochMs
  }
}

/** A duration. */
export class CelDuration {
  readonly nanoseconds: bigint
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds
  }
}

/** A type as a value: the result of `type(x)` and the value of `int`. */
export class CelType {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A value that may be absent. */
export class CelOptional {
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
}

/** A value of a Kubernetes type, such as a quantity or an IP address. */
export abstract class CelObject {
  abstract readonly typeName: string
  /** Whether `other`, of any type, is equal. */
  abstract equals(other: CelObject): boolean

  /** The field with this name; most types have none. */
  field(_name: string): CelValue | undefined {
    return undefined
  }
}

/** The identity of items of a list that came from an object; plain lists have none. */
export interface ListIdentity {
  /** A string that is equal for items with the same identity. */
  readonly of: (item: CelValue) => string
}

/**
 * Identities of lists that are sets or have keys. Kept in a separate map, because such a list is an ordinary list to
 * every function except `==` and `+`.
 */
const identities = new WeakMap<CelList, ListIdentity>()

/** Marks a list as a set or keyed list. */
export function withIdentity(list: CelList, identity: ListIdentity): CelList {
  identities.set(list, identity)
  return list
}

/** The identity of a set's or keyed list's items. */
export function identityOf(list: CelList): ListIdentity | undefined {
  return identities.get(list)
}

/** The name of a value's type, as in `type()` and messages. */
export function typeName(value: CelValue): string {
  if (value === null) return 'null_type'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'string') return 'string'
  if (value instanceof Uint8Array) return 'bytes'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Map) return 'map'
  if (value instanceof CelUint) return 'uint'
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp'
  if (value instanceof CelDuration) return 'google.protobuf.Duration'
  if (value instanceof CelType) return 'type'
  if (value instanceof CelOptional) return 'optional_type'
  return value.typeName
}

/** A number of any of the three types in a comparable form, or `undefined`. */
function numeric(value: CelValue): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value
  return value instanceof CelUint ? value.value : undefined
}

/** CEL's `==`: numbers across types, sets and keyed lists in any order, everything else by value. */
export function celEqual(a: CelValue, b: CelValue): boolean {
  if (a === b) return true
  const [left, right] = [numeric(a), numeric(b)]
  // A bigint and a number are equal in value only under loose equality.
  if (left !== undefined && right !== undefined) return left >= right && left <= right
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b)
  if (a instanceof Map) return b instanceof Map && mapsEqual(a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.epochMs === b.epochMs
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanoseconds === b.nanoseconds
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false
    return a.value === undefined || b.value === undefined ? a.value === b.value : celEqual(a.value, b.value)
  }
  return a instanceof CelObject && b instanceof CelObject && a.typeName === b.typeName && a.equals(b)
}

function listsEqual(a: CelList, b: CelList): boolean {
  if (a.length !== b.length) return false
  const identity = identityOf(a) ?? identityOf(b)
  if (identity === undefined) return a.every((item, index) => celEqual(item, b[index] ?? null))
  const others = new Map(b.map((item) => [identity.of(item), item]))
  return a.every((item) => {
    const other = others.get(identity.of(item))
    return other !== undefined && celEqual(item, other)
  })
}

function mapsEqual(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of a) {
    const other = mapEntry(b, key)
    if (other === undefined || !celEqual(value, other)) return false
  }
  return true
}

/** The entry of a key; an int key also matches an equal number of another type. */
export function mapEntry(map: CelMap, key: CelValue): CelValue | undefined {
  const direct = map.get(key)
  if (direct !== undefined) return direct
  const number = numeric(key)
  if (number === undefined) return undefined
  if (typeof number === 'bigint') return map.get(Number(number))
  return Number.isInteger(number) ? map.get(BigInt(number)) : undefined
}

/** Less than, equal or greater as a negative number, zero or a positive one; `undefined` without an order. */
export function celCompare(a: CelValue, b: CelValue): number | undefined {
  const [left, right] = [numeric(a), numeric(b)]
  if (left !== undefined && right !== undefined) return ordering(left, right)
  if (typeof a === 'string' && typeof b === 'string') return ordering(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return ordering(a.epochMs, b.epochMs)
  if (a instanceof CelDuration && b instanceof CelDuration) return ordering(a.nanoseconds, b.nanoseconds)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return undefined
}

function ordering<T extends bigint | number | string>(a: T, b: bigint | number | string): number {
  if (a < b) return -1
  return a > b ? 1 : 0
}
