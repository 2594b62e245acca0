/** What a function of the CEL library is. */
import { type ScalarKind, type StaticType, scalar } from '../static-type.ts'
import type { CelValue } from '../values.ts'

/** A function, all its overloads in one: it looks at the types of its arguments itself. */
export interface CelFunction {
  /** What it returns, as far as that does not depend on its arguments. */
  readonly result: StaticType
  /** The result, or `undefined` when there is no overload for these arguments. A method's receiver comes first. */
  readonly call: (args: readonly CelValue[]) => CelValue | undefined
}

/** Functions by name. */
export type FunctionTable = Readonly<Record<string, CelFunction>>

/** A function with a scalar result. */
export function celFunction(result: ScalarKind, call: CelFunction['call']): CelFunction {
  return { result: scalar(result), call }
}

/** A method of text with the given number of further arguments of text. */
export function textFunction(result: ScalarKind, call: (...texts: string[]) => CelValue): CelFunction {
  return celFunction(result, (args) => {
    const texts = args.filter((value) => typeof value === 'string')
    return texts.length === args.length && args.length <= call.length ? call(...texts) : undefined
  })
}
