/** The type of functions in the CEL library. */
import type { Budget } from '../budget.ts'
import type { Patterns } from '../patterns.ts'
import { type ScalarKind, type StaticType, scalar } from '../static-type.ts'
import type { CelValue } from '../values.ts'

/** What functions work with. */
export interface Work {
  /** For work beyond reading all arguments once, which is charged before the call. */
  readonly budget: Budget
  readonly patterns: Patterns
}

/** A function with all its overloads: it distinguishes them by the types of its arguments. */
export interface CelFunction {
  /** The static result type, as far as it does not depend on the arguments. */
  readonly result: StaticType
  /**
   * The result, or `undefined` when there is no overload for these arguments. A method's receiver is the first
   * argument.
   */
  readonly call: (args: readonly CelValue[], work: Work) => CelValue | undefined
  /** Whether it does not read its arguments: then a call has a constant cost. */
  readonly isCheap?: boolean
}

/** Functions by name. */
export type FunctionTable = Readonly<Record<string, CelFunction>>

/** A function with a scalar result. */
export function celFunction(result: ScalarKind, call: CelFunction['call']): CelFunction {
  return { result: scalar(result), call }
}

/** The same function, which does not read its arguments. */
export const cheap = (celFunction: CelFunction): CelFunction => ({ ...celFunction, isCheap: true })

/** A method of strings with the given number of additional string arguments. */
export function textFunction(result: ScalarKind, call: (...texts: string[]) => CelValue): CelFunction {
  return celFunction(result, (args) => {
    const texts = args.filter((value) => typeof value === 'string')
    return texts.length === args.length && args.length <= call.length ? call(...texts) : undefined
  })
}
