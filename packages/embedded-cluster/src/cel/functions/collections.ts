/** Functions of lists, maps and optional values. */
import { CelError } from '../cel-error.ts'
import { arithmetic } from '../operators.ts'
import { dyn, scalar } from '../static-type.ts'
import { type CelList, CelOptional, type CelValue, celCompare, celEqual } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable } from './cel-function.ts'

/** The number of characters, bytes, items or entries of a value. */
export const size: CelFunction = celFunction('int', ([value]) => {
  if (typeof value === 'string') return BigInt([...value].length)
  if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length)
  return value instanceof Map ? BigInt(value.size) : undefined
})

function listFunction(
  result: CelFunction['result'],
  call: (list: CelList, ...rest: CelValue[]) => CelValue | undefined,
) {
  return {
    result,
    call: ([list, ...rest]: readonly CelValue[]) => (Array.isArray(list) ? call(list, ...rest) : undefined),
  }
}

const anyList = { kind: 'list', items: dyn } as const

/** Methods of lists. `indexOf` and `lastIndexOf` also support strings. */
export const listMethods: FunctionTable = {
  distinct: listFunction(anyList, (list) => {
    return list.filter((item, index) => list.findIndex((other) => celEqual(other, item)) === index)
  }),
  flatten: listFunction(anyList, (list, depth = 1n) => (typeof depth === 'bigint' ? flatten(list, depth) : undefined)),
  indexOf: celFunction('int', (args) => position(args, false)),
  isSorted: listFunction(scalar('bool'), (list) => {
    return list.every((item, index) => index === 0 || ordered(list[index - 1] ?? null, item) <= 0)
  }),
  lastIndexOf: celFunction('int', (args) => position(args, true)),
  max: listFunction(dyn, (list) => extreme(list, 'max', (order) => order > 0)),
  min: listFunction(dyn, (list) => extreme(list, 'min', (order) => order < 0)),
  reverse: listFunction(anyList, (list) => [...list].reverse()),
  slice: listFunction(anyList, (list, start, end) => {
    if (typeof start !== 'bigint' || typeof end !== 'bigint') return undefined
    if (start < 0n || end > BigInt(list.length) || start > end) throw new CelError('slice indices out of range')
    return list.slice(Number(start), Number(end))
  }),
  sort: listFunction(anyList, (list) => [...list].sort(ordered)),
  sum: listFunction(dyn, (list) =>
    list.reduce<CelValue>((sum, item) => arithmetic('+', sum, item), list.length === 0 ? 0n : zeroLike(list)),
  ),
}

function zeroLike([first]: CelList): CelValue {
  if (typeof first === 'number') return 0
  if (typeof first === 'bigint') return 0n
  if (first === undefined) return 0n
  // Durations have no literal for zero; the difference of a duration and itself is zero.
  return arithmetic('-', first, first)
}

function ordered(a: CelValue, b: CelValue): number {
  const order = celCompare(a, b)
  if (order === undefined) throw new CelError('no such overload: items have no order')
  return order
}

function extreme(list: CelList, name: string, isBetter: (order: number) => boolean): CelValue {
  const [first, ...rest] = list
  if (first === undefined) throw new CelError(`${name} called on empty list`)
  return rest.reduce((best, item) => (isBetter(ordered(item, best)) ? item : best), first)
}

function flatten(list: CelList, depth: bigint): CelList {
  if (depth < 0n) throw new CelError('level must be non-negative')
  return depth === 0n ? list : list.flatMap((item) => (Array.isArray(item) ? flatten(item, depth - 1n) : [item]))
}

function position([container, item, from]: readonly CelValue[], isLast: boolean): CelValue | undefined {
  if (item === undefined) return undefined
  if (Array.isArray(container)) {
    const test = (candidate: CelValue): boolean => celEqual(candidate, item)
    return BigInt(isLast ? container.findLastIndex(test) : container.findIndex(test))
  }
  if (typeof container !== 'string' || typeof item !== 'string') return undefined
  if (from !== undefined && typeof from !== 'bigint') return undefined
  const start = from === undefined ? undefined : Number(from)
  return BigInt(isLast ? container.lastIndexOf(item, start) : container.indexOf(item, start))
}

/** Functions of the namespace `sets`. */
export const setFunctions: FunctionTable = {
  'sets.contains': setFunction((a, b) => b.every((item) => has(a, item))),
  'sets.equivalent': setFunction((a, b) => a.every((item) => has(b, item)) && b.every((item) => has(a, item))),
  'sets.intersects': setFunction((a, b) => a.some((item) => has(b, item))),
}

function setFunction(test: (a: CelList, b: CelList) => boolean): CelFunction {
  return celFunction('bool', ([a, b]) => (Array.isArray(a) && Array.isArray(b) ? test(a, b) : undefined))
}

function has(list: CelList, item: CelValue): boolean {
  return list.some((candidate) => celEqual(candidate, item))
}

/** Methods of optional values. */
export const optionalMethods: FunctionTable = {
  hasValue: optionalMethod('bool', (optional) => optional.value !== undefined),
  or: optionalMethod('dyn', (optional, other) => (optional.value === undefined ? other : optional)),
  orValue: optionalMethod('dyn', (optional, other) => optional.value ?? other),
  value: optionalMethod('dyn', (optional) => {
    if (optional.value === undefined) throw new CelError('optional.none() dereference')
    return optional.value
  }),
}

function optionalMethod(
  result: 'bool' | 'dyn',
  call: (optional: CelOptional, other: CelValue | undefined) => CelValue | undefined,
): CelFunction {
  return celFunction(result, ([optional, other]) =>
    optional instanceof CelOptional ? call(optional, other) : undefined,
  )
}

/** Functions of the namespace `optional`. */
export const optionalFunctions: FunctionTable = {
  'optional.none': celFunction('dyn', () => new CelOptional(undefined)),
  'optional.of': celFunction('dyn', ([value]) => new CelOptional(value)),
  'optional.ofNonZeroValue': celFunction('dyn', ([value]) => new CelOptional(isZero(value) ? undefined : value)),
}

function isZero(value: CelValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  if (value === 0 || value === 0n) return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  return value instanceof Map && value.size === 0
}
