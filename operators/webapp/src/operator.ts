/** The WebApp operator as one value: controller, webhooks, certificates and election in a manager. */
import {
  addWebhooks,
  type BackoffOptions,
  type Cache,
  type Controller,
  controller,
  keepOwnFields,
  type Manager,
  type OperatorFrameOptions,
  operatorFrame,
  type ReconcileRecord,
  type WebhookOptions,
  type Webhooks,
} from '@reeve/runtime'
import { type WebApp, WebApps } from './api/webapp.ts'
import { OWNED, webAppReconcile } from './reconcile.ts'
import { FIELD_MANAGER } from './render/labels.ts'
import { webAppWebhooks } from './webhooks/webhooks.ts'

/** Options of {@link createWebAppOperator}. */
export interface WebAppOperatorOptions extends OperatorFrameOptions {
  /** Watch these namespaces only. @default all of them */
  readonly namespaces?: readonly string[]
  /** How many WebApps are worked on at the same time. @default 10 */
  readonly concurrency?: number
  /** Without it no webhooks are served. */
  readonly webhook?: WebhookOptions
  /** Delays after failures. @default 1 s, 2 s, 4 s … 5 min */
  readonly backoff?: BackoffOptions
  /** Told of every reconcile after its end. */
  readonly onReconcile?: (record: ReconcileRecord) => void
}

/** The operator before it runs. */
export interface WebAppOperator {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  readonly controller: Controller<WebApp>
  readonly webhooks: Webhooks | undefined
}

/**
 * Puts the operator together; `manager.run(signal)` starts it.
 *
 * @example
 * const { manager } = createWebAppOperator({ client })
 * await manager.run(signal)
 */
export function createWebAppOperator(options: WebAppOperatorOptions): WebAppOperator {
  const frame = operatorFrame(FIELD_MANAGER, options)
  const webhooks = options.webhook && addWebhooks(frame, options.client, webAppWebhooks(), options.webhook)
  const webapps = controller(
    {
      name: 'webapp',
      for: WebApps,
      owns: OWNED.map((resource) => ({ resource, transform: keepOwn })),
      ...(options.namespaces && { namespaces: options.namespaces }),
      reconcile: webAppReconcile(),
      concurrency: options.concurrency ?? 10,
      ...(options.backoff && { backoff: options.backoff }),
      ...(options.onReconcile && { onReconcile: options.onReconcile }),
    },
    frame.environment,
  )
  const { manager, cache } = frame
  manager.add(webapps)
  return { manager, cache, controller: webapps, webhooks }
}

/** The cache keeps which fields are the operator's own: that is how drift is told from other people's fields. */
const keepOwn = keepOwnFields(FIELD_MANAGER)
