/** CEL's operators on values. */
import { CelError, noSuchOverload } from './cel-error.ts'
import {
  CelDuration,
  type CelList,
  CelObject,
  CelTimestamp,
  type CelValue,
  celCompare,
  celEqual,
  identityOf,
  mapEntry,
  withIdentity,
} from './values.ts'

const maxInt = 2n ** 63n - 1n
const minInt = -(2n ** 63n)

/** An int within 64 bits. */
export function checkedInt(value: bigint): bigint {
  if (value > maxInt || value < minInt) throw new CelError('integer overflow')
  return value
}

type Arithmetic = '+' | '-' | '*' | '/' | '%'
type Relation = '<' | '<=' | '>' | '>='

/** `a op b` for the arithmetic operators; `+` and `-` also support other types. */
export function arithmetic(op: Arithmetic, a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return intArithmetic(op, a, b)
  if (typeof a === 'number' && typeof b === 'number' && op !== '%') return doubleArithmetic(op, a, b)
  if (op === '+') {
    const sum = add(a, b)
    if (sum !== undefined) return sum
  }
  if (op === '-') {
    const difference = subtract(a, b)
    if (difference !== undefined) return difference
  }
  throw noSuchOverload(`_${op}_`, [a, b])
}

function intArithmetic(op: Arithmetic, a: bigint, b: bigint): bigint {
  if (op === '+') return checkedInt(a + b)
  if (op === '-') return checkedInt(a - b)
  if (op === '*') return checkedInt(a * b)
  if (b === 0n) throw new CelError(op === '/' ? 'division by zero' : 'modulus by zero')
  return checkedInt(op === '/' ? a / b : a % b)
}

function doubleArithmetic(op: Exclude<Arithmetic, '%'>, a: number, b: number): number {
  if (op === '+') return a + b
  if (op === '-') return a - b
  return op === '*' ? a * b : a / b
}

function add(a: CelValue, b: CelValue): CelValue | undefined {
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (Array.isArray(a) && Array.isArray(b)) return concatenate(a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return new Uint8Array(Buffer.concat([a, b]))
  if (a instanceof CelDuration && b instanceof CelDuration) return new CelDuration(a.nanoseconds + b.nanoseconds)
  if (a instanceof CelTimestamp && b instanceof CelDuration) return shifted(a, b.nanoseconds)
  if (a instanceof CelDuration && b instanceof CelTimestamp) return shifted(b, a.nanoseconds)
  return undefined
}

function subtract(a: CelValue, b: CelValue): CelValue | undefined {
  if (a instanceof CelDuration && b instanceof CelDuration) return new CelDuration(a.nanoseconds - b.nanoseconds)
  if (a instanceof CelTimestamp && b instanceof CelDuration) return shifted(a, -b.nanoseconds)
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) {
    return new CelDuration(BigInt(a.epochMs - b.epochMs) * 1_000_000n)
  }
  return undefined
}

function shifted(time: CelTimestamp, nanoseconds: bigint): CelTimestamp {
  return new CelTimestamp(time.epochMs + Number(nanoseconds / 1_000_000n))
}

/** Sets and keyed lists are merged: an item of `b` replaces the item of `a` with the same identity. */
function concatenate(a: CelList, b: CelList): CelList {
  const identity = identityOf(a) ?? identityOf(b)
  if (identity === undefined) return [...a, ...b]
  const united = new Map(a.map((item) => [identity.of(item), item]))
  for (const item of b) united.set(identity.of(item), item)
  return withIdentity([...united.values()], identity)
}

/** `a op b` for the order relations. */
export function relation(op: Relation, a: CelValue, b: CelValue): boolean {
  const order = celCompare(a, b)
  if (order === undefined) throw noSuchOverload(`_${op}_`, [a, b])
  if (op === '<') return order < 0
  if (op === '<=') return order <= 0
  return op === '>' ? order > 0 : order >= 0
}

/** `value in collection`. */
export function isIn(value: CelValue, collection: CelValue): boolean {
  if (Array.isArray(collection)) return collection.some((item) => celEqual(item, value))
  if (collection instanceof Map) return mapEntry(collection, value) !== undefined
  throw noSuchOverload('@in', [value, collection])
}

/** `-value`. */
export function negated(value: CelValue): CelValue {
  if (typeof value === 'bigint') return checkedInt(-value)
  if (typeof value === 'number') return -value
  throw noSuchOverload('-_', [value])
}

/** `collection[key]`, or a field by its name; `undefined` when there is none. */
export function lookup(collection: CelValue, key: CelValue): CelValue | undefined {
  if (collection instanceof Map) return mapEntry(collection, key)
  if (Array.isArray(collection)) {
    const index = typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : key
    if (typeof index === 'bigint') return index < 0n ? undefined : collection[Number(index)]
  }
  const field = collection instanceof CelObject && typeof key === 'string' ? collection.field(key) : undefined
  if (field !== undefined) return field
  throw noSuchOverload('_[_]', [collection, key])
}
