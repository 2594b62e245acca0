/** Failures while a CEL expression is evaluated. */
import { type CelValue, typeName } from './values.ts'

/** A failure that belongs to the value at hand: `&&`, `||` and the quantifiers may absorb it. */
export class CelError extends Error {
  override readonly name: string = 'CelError'
  readonly code: string = 'CEL_EVALUATION'
}

/** Evaluation took too many steps. Nothing absorbs it. */
export class CelBudgetError extends Error {
  override readonly name = 'CelBudgetError'
  readonly code = 'CEL_BUDGET_EXCEEDED'
}

/** The operator or function does not exist for values of these types. */
export function noSuchOverload(name: string, args: readonly CelValue[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map(typeName).join(', ')})`)
}

/** A conversion that cannot be done, such as of text that is no number. */
export function conversionError(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`)
}
