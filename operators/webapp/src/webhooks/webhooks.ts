/** The webhooks of the operator and their paths. */
import { allow, deny, mutate, mutatingWebhook, validatingWebhook, type WebhookRoute } from '@reeve/runtime'
import { type WebApp, WebApps } from '../api/webapp.ts'
import { admitWebApp, completeWebApp } from './admit-webapp.ts'

/**
 * The routes of the webhook server.
 *
 * @example
 * new WebhookRouter(webAppWebhooks())
 */
export function webAppWebhooks(): readonly WebhookRoute[] {
  return [
    mutatingWebhook<WebApp>(
      '/mutate',
      ({ object }) => (object === undefined ? allow() : mutate(completeWebApp(object))),
      { for: WebApps },
    ),
    validatingWebhook<WebApp>(
      '/validate',
      ({ object }) => {
        if (object === undefined || object.metadata.deletionTimestamp !== undefined) return allow()
        const { allowed, message, warnings } = admitWebApp(object)
        return allowed
          ? allow(warnings)
          : deny(`${object.kind} ${object.metadata.name ?? ''} is not valid: ${message ?? ''}`, {
              code: 422,
              reason: 'Invalid',
            })
      },
      { for: WebApps },
    ),
  ]
}
