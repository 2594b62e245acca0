/** Evaluates a webhook's match conditions: CEL expressions that must all hold for the webhook to be asked. */
import { isJsonObject, type JsonObject } from '../json.ts'
import { forbidden } from '../rest/api-errors.ts'
import type { AdmissionAttributes } from './admission.ts'
import type { Webhook } from './webhook-configuration.ts'

/** What an expression sees. */
export interface ConditionVariables {
  readonly object: JsonObject | null
  readonly oldObject: JsonObject | null
  /** The `request` of the AdmissionReview without its objects. */
  readonly request: JsonObject
}

/** Compiles an expression; both compiling and evaluating throw on errors. */
export type CompileCondition = (expression: string) => (variables: ConditionVariables) => boolean

/**
 * Whether every condition holds. When none is false and one fails, the failure policy decides: `Ignore` skips the
 * webhook, `Fail` refuses the request with a 403.
 */
export function evaluateConditions(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  review: JsonObject,
  compile: CompileCondition | undefined,
): boolean {
  if (webhook.matchConditions.length === 0) return true
  const { object, oldObject, ...request } = isJsonObject(review.request) ? review.request : {}
  const variables = {
    object: isJsonObject(object) ? object : null,
    oldObject: isJsonObject(oldObject) ? oldObject : null,
    request,
  }
  const failures: string[] = []
  for (const { expression } of webhook.matchConditions) {
    try {
      if (compile === undefined) throw new Error('this cluster evaluates no match conditions')
      if (!compile(expression)(variables)) return false
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      failures.push(`expression '${expression}' resulted in error: ${why}`)
    }
  }
  if (failures.length === 0) return true
  if (webhook.failurePolicy === 'Ignore') return false
  const [first = ''] = failures
  const why = failures.length === 1 ? first : `[${failures.join(', ')}]`
  throw forbidden(attributes.resource, attributes.name ?? '', why)
}
