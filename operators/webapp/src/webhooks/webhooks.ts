/** The webhooks of the operator and their paths. */
import { allow, deny, mutate, mutatingWebhook, validatingWebhook, type WebhookRoute } from '@reeve/runtime'
import type { WebApp } from '../api/webapp.ts'
import { admitWebApp, completeWebApp } from './admit-webapp.ts'

/** Where the API server finds the webhooks. */
export const WEBHOOK_PATHS = { mutate: '/mutate', validate: '/validate' } as const

/**
 * The routes of the webhook server.
 *
 * @example
 * new WebhookRouter(webAppWebhooks())
 */
export function webAppWebhooks(): readonly WebhookRoute[] {
  return [
    mutatingWebhook<WebApp>(WEBHOOK_PATHS.mutate, ({ object }) =>
      object === undefined ? allow() : mutate(completeWebApp(object)),
    ),
    validatingWebhook<WebApp>(WEBHOOK_PATHS.validate, ({ object }) => {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return allow()
      const { allowed, message, warnings } = admitWebApp(object)
      return allowed
        ? allow(warnings)
        : deny(`${object.kind} ${object.metadata.name ?? ''} is not valid: ${message ?? ''}`, {
            code: 422,
            reason: 'Invalid',
          })
    }),
  ]
}
