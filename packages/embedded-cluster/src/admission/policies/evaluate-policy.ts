/** What one policy says about one request. */
import { CelBudgetError, CelError } from '../../cel/cel-error.ts'
import { type CelValue, typeName } from '../../cel/values.ts'
import { PolicyExpressions, type RequestVariables } from './expressions.ts'
import type { Policy, Validation } from './policy.ts'

/** A rule that the request does not satisfy. */
export interface Denial {
  readonly message: string
  /** The reason of the Status, such as `Invalid` or `Forbidden`. */
  readonly reason: string
}

const MAX_MESSAGE_LENGTH = 5 * 1024

/** Evaluates policies, each compiled once. */
export class PolicyEvaluator {
  // The expressions of a policy are collected together with it.
  readonly #compiled = new WeakMap<Policy, PolicyExpressions>()

  /** The denials of a policy. If an expression fails, its failure policy decides whether that is one. */
  evaluate(policy: Policy, variables: RequestVariables): readonly Denial[] {
    const evaluate = this.#expressions(policy).forRequest(variables, policy.variables)
    const failed = (message: string): readonly Denial[] =>
      policy.failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid' }]
    for (const { expression } of policy.matchConditions) {
      const result = attempt(() => evaluate(expression))
      if (result instanceof Error) return failed(failure(expression, result))
      if (result !== true) return []
    }
    const denials = policy.validations.flatMap((validation) => {
      const result = attempt(() => evaluate(validation.expression))
      if (result instanceof Error) return failed(failure(validation.expression, result))
      return result === true ? [] : [{ message: messageOf(validation, evaluate), reason: validation.reason }]
    })
    const problems = policy.auditAnnotations.flatMap(({ expression }) => {
      const result = attempt(() => evaluate(expression))
      if (result instanceof Error) return failed(failure(expression, result))
      return result === null || typeof result === 'string' ? [] : failed(unsupported(expression, result))
    })
    return [...denials, ...problems]
  }

  #expressions(policy: Policy): PolicyExpressions {
    const known = this.#compiled.get(policy) ?? new PolicyExpressions()
    this.#compiled.set(policy, known)
    return known
  }
}

/** The result of the message expression if it is a short line; then the message; then the rule itself. */
function messageOf(validation: Validation, evaluate: (text: string) => CelValue): string {
  if (validation.messageExpression !== '') {
    const result = attempt(() => evaluate(validation.messageExpression))
    const text = typeof result === 'string' ? result.trim() : ''
    if (text !== '' && text.length <= MAX_MESSAGE_LENGTH && !text.includes('\n')) return text
  }
  return validation.message.trim() || `failed expression: ${validation.expression.trim()}`
}

function attempt(evaluate: () => CelValue): CelValue | CelError | CelBudgetError {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof CelError || error instanceof CelBudgetError) return error
    throw error
  }
}

function unsupported(expression: string, value: CelValue): string {
  return `valueExpression '${expression}' resulted in unsupported return type: ${typeName(value)}. Return type must be either string or null.`
}

function failure(expression: string, error: Error): string {
  return `expression '${expression}' resulted in error: ${error.message}`
}
