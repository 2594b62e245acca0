/** The webhook that refuses bad Collectors at the door. */
import { allow, deny, validatingWebhook, type WebhookRoute } from '@reeve/runtime'
import type { Collector } from './api/collector.ts'
import { completeCollector, type ValidationRules, validateCollector } from './validate-collector.ts'

/** Where the API server finds the webhook. */
export const WEBHOOK_PATH = '/validate'

/**
 * The route of the webhook server. What is being deleted passes: nothing may stand in the way of its finalizer.
 *
 * @example
 * new WebhookRouter([collectorWebhook({ clusters: ['production'] })])
 */
export function collectorWebhook(rules: ValidationRules): WebhookRoute {
  return validatingWebhook<Collector>(WEBHOOK_PATH, ({ object }) => {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return allow()
    const problems = validateCollector(completeCollector(object), rules)
    if (problems.length === 0) return allow()
    const message = problems.map(({ field, message }) => `${field}: ${message}`).join('; ')
    return deny(`Collector ${object.metadata.name ?? ''} is not valid: ${message}`, { code: 422, reason: 'Invalid' })
  })
}
