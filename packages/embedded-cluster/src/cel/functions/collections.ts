/** Functions of lists, maps and optional values. */
import { CelError } from '../cel-error.ts'
import { deepCost, searchCost, textSearchCost } from '../cost.ts'
import { arithmetic } from '../operators.ts'
import { dyn, scalar } from '../static-type.ts'
import { type CelList, CelOptional, type CelValue, celCompare, celEqual } from '../values.ts'
import { type CelFunction, celFunction, cheap, type FunctionTable, type Work } from './cel-function.ts'

/** The number of characters, bytes, items or entries of a value. */
export const size: CelFunction = cheap(
  celFunction('int', ([value], { budget }) => {
    if (typeof value === 'string') {
      budget.spend(value.length / 10)
      return BigInt([...value].length)
    }
    if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length)
    return value instanceof Map ? BigInt(value.size) : undefined
  }),
)

function listFunction(
  result: CelFunction['result'],
  call: (list: CelList, ...rest: CelValue[]) => CelValue | undefined,
  /** Steps beyond visiting each item once; anything above `max` is not distinguished. */
  extraCost: (list: CelList, max: number) => number = () => 0,
): CelFunction {
  return {
    result,
    call: ([list, ...rest], { budget }) => {
      if (!Array.isArray(list)) return undefined
      budget.spend(extraCost(list, budget.left))
      return call(list, ...rest)
    },
  }
}

/** Every item may have to be compared with every other one. */
const pairCost = (list: CelList, max: number): number => (list.length * deepCost(list, max)) / 2

const sortCost = (list: CelList, max: number): number => deepCost(list, max) * Math.ceil(Math.log2(list.length + 1))

const anyList = { kind: 'list', items: dyn } as const

/** Methods of lists. `indexOf` and `lastIndexOf` also support strings. */
export const listMethods: FunctionTable = {
  distinct: listFunction(
    anyList,
    (list) => list.filter((item, index) => list.findIndex((other) => celEqual(other, item)) === index),
    pairCost,
  ),
  flatten: listFunction(
    anyList,
    (list, depth = 1n) => (typeof depth === 'bigint' ? flatten(list, depth) : undefined),
    deepCost,
  ),
  indexOf: celFunction('int', (args, work) => position(args, false, work)),
  isSorted: listFunction(scalar('bool'), (list) => {
    return list.every((item, index) => index === 0 || ordered(list[index - 1] ?? null, item) <= 0)
  }),
  lastIndexOf: celFunction('int', (args, work) => position(args, true, work)),
  max: listFunction(dyn, (list) => extreme(list, 'max', (order) => order > 0)),
  min: listFunction(dyn, (list) => extreme(list, 'min', (order) => order < 0)),
  reverse: listFunction(anyList, (list) => [...list].reverse()),
  slice: listFunction(anyList, (list, start, end) => {
    if (typeof start !== 'bigint' || typeof end !== 'bigint') return undefined
    if (start < 0n || end > BigInt(list.length) || start > end) throw new CelError('slice indices out of range')
    return list.slice(Number(start), Number(end))
  }),
  sort: listFunction(anyList, (list) => [...list].sort(ordered), sortCost),
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

function position(
  [container, item, from]: readonly CelValue[],
  isLast: boolean,
  { budget }: Work,
): CelValue | undefined {
  if (item === undefined) return undefined
  if (Array.isArray(container)) {
    budget.spend(searchCost(item, container, budget.left))
    const test = (candidate: CelValue): boolean => celEqual(candidate, item)
    return BigInt(isLast ? container.findLastIndex(test) : container.findIndex(test))
  }
  if (typeof container !== 'string' || typeof item !== 'string') return undefined
  if (from !== undefined && typeof from !== 'bigint') return undefined
  budget.spend(textSearchCost(container, item))
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
  return celFunction('bool', ([a, b], { budget }) => {
    if (!Array.isArray(a) || !Array.isArray(b)) return undefined
    // Every item of one may have to be compared with every item of the other.
    budget.spend(a.length * deepCost(b, budget.left))
    return test(a, b)
  })
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
  return cheap(
    celFunction(result, ([optional, other]) => (optional instanceof CelOptional ? call(optional, other) : undefined)),
  )
}

/** Functions of the namespace `optional`. */
export const optionalFunctions: FunctionTable = {
  'optional.none': celFunction('dyn', () => new CelOptional(undefined)),
  'optional.of': cheap(celFunction('dyn', ([value]) => new CelOptional(value))),
  'optional.ofNonZeroValue': cheap(celFunction('dyn', ([value]) => new CelOptional(isZero(value) ? undefined : value))),
}

function isZero(value: CelValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  if (value === 0 || value === 0n) return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  return value instanceof Map && value.size === 0
}
