/** Evaluates a webhook's match conditions: CEL expressions that must all be true for the webhook to be called. */
import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import { forbidden } from '../api/api-errors.ts'
import { type Authorizer, alwaysAllow } from '../auth/authorizer.ts'
import type { CelAuthorizer } from '../cel/functions/authorization.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { MatchCondition, Webhook } from './webhook-configuration.ts'

/** The variables of an expression. */
export interface ConditionVariables {
  readonly object: JsonObject | null
  readonly oldObject: JsonObject | null
  /** The `request` of the AdmissionReview without its objects. */
  readonly request: JsonObject
  /** What the user of the request may do. */
  readonly authorizer: CelAuthorizer
}

/** Compiles an expression; both compiling and evaluating throw on errors. */
export type CompileCondition = (expression: string) => (variables: ConditionVariables) => boolean

/** Options of {@link MatchConditions}. */
export interface MatchConditionOptions {
  /** Decides what `authorizer` is asked. @default everything is allowed */
  readonly authorizer?: Authorizer
  /** @default the embedded CEL implementation */
  readonly compileCondition?: CompileCondition
}

/** Evaluates conditions, each compiled once. */
export class MatchConditions {
  readonly #options: MatchConditionOptions
  // The cache entry of a condition is collected together with the configuration it belongs to.
  readonly #compiled = new WeakMap<MatchCondition, ReturnType<CompileCondition>>()

  constructor(options: MatchConditionOptions = {}) {
    this.#options = options
  }

  /**
   * Whether every condition of `webhook` is true. If none is false and one fails to evaluate, the failure policy
   * decides: `Ignore` skips the webhook, `Fail` rejects the request with a 403.
   */
  async hold(webhook: Webhook, attributes: AdmissionAttributes, review: JsonObject): Promise<boolean> {
    if (webhook.matchConditions.length === 0) return true
    const { object, oldObject, ...request } = isJsonObject(review.request) ? review.request : {}
    // Imported lazily, as below.
    const { requestAuthorizer } = await import('./request-authorizer.ts')
    const variables = {
      object: isJsonObject(object) ? object : null,
      oldObject: isJsonObject(oldObject) ? oldObject : null,
      request,
      authorizer: requestAuthorizer(this.#options.authorizer ?? alwaysAllow, attributes),
    }
    const failures: string[] = []
    for (const condition of webhook.matchConditions) {
      try {
        const evaluate = await this.#evaluator(condition)
        if (!evaluate(variables)) return false
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        failures.push(`expression '${condition.expression}' resulted in error: ${why}`)
      }
    }
    if (failures.length === 0) return true
    if (webhook.failurePolicy === 'Ignore') return false
    const [first = ''] = failures
    const why = failures.length === 1 ? first : `[${failures.join(', ')}]`
    throw forbidden(attributes.resource, attributes.name ?? '', why)
  }

  async #evaluator(condition: MatchCondition): Promise<ReturnType<CompileCondition>> {
    const known = this.#compiled.get(condition)
    if (known !== undefined) return known
    // Imported lazily: most clusters have no webhook with conditions.
    const compile = this.#options.compileCondition ?? (await import('./cel-conditions.ts')).compileCelCondition
    const compiled = compile(condition.expression)
    this.#compiled.set(condition, compiled)
    return compiled
  }
}
