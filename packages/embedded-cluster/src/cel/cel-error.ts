/** Errors during the evaluation of a CEL expression. */
import { type CelValue, typeName } from './values.ts'

/** An error caused by the evaluated values: `&&`, `||` and the quantifiers may absorb it. */
export class CelError extends Error {
  override readonly name: string = 'CelError'
  readonly code: string = 'CEL_EVALUATION'
}

/** Evaluation exceeded its step limit. Nothing absorbs this error. */
export class CelBudgetError extends Error {
  override readonly name = 'CelBudgetError'
  readonly code = 'CEL_BUDGET_EXCEEDED'
}

/** The operator or function does not exist for values of these types. */
export function noSuchOverload(name: string, args: readonly CelValue[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map(typeName).join(', ')})`)
}

/** A conversion that is not possible, such as of text that is not a number. */
export function conversionError(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`)
}
