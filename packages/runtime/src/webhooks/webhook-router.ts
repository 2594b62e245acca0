/** Routes reviews by path, with limits and without a socket. */
import { type Clock, Deadline, systemClock, untilAborted } from '@reeve/http'
import { WEBHOOK_DEFAULTS } from '../defaults.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import type { Metrics } from '../metrics/registry.ts'
import { overdue, RuntimeError } from '../runtime-error.ts'
import { readReview } from './read-review.ts'
import { Semaphore, SemaphoreFullError } from './semaphore.ts'
import { type WebhookMetrics, webhookMetrics } from './webhook-metrics.ts'
import { BadReviewError, type ReviewFailure, type WebhookRoute } from './webhook-route.ts'

/** Options of {@link WebhookRouter}. */
export interface WebhookRouterOptions {
  /** After this a review is rejected with code 504. @default 9_000 */
  readonly handlerTimeoutMs?: number
  /**
   * Handlers of one path that may run concurrently; further requests to it wait within their timeout. Paths
   * do not take places from each other: a validating webhook that lists custom resources makes the API server call the
   * conversion webhook, which must not have to wait for it.
   * @default 100
   */
  readonly maxConcurrent?: number
  readonly clock?: Clock
  readonly logger?: Logger
  readonly metrics?: Metrics
}

/** Options of {@link WebhookRouter.handle}. */
export interface HandleOptions {
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal
  /** What the asker is willing to wait; the shorter of this and the router's own time-out counts. */
  readonly timeoutMs?: number
}

/**
 * *Guarantees*: a review always gets a response within its timeout: an exception or a hanging handler becomes a rejection
 * that says so without revealing internals. Only what is not a review, or comes to a server that is overloaded,
 * rejects with {@link BadReviewError}, so that the API server's failure policy decides.
 *
 * @example
 * const router = new WebhookRouter([validatingWebhook('/validate', () => allow())])
 * const review = await router.handle('/validate', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
 */
export class WebhookRouter {
  readonly #routes: ReadonlyMap<string, WebhookRoute>
  readonly #timeoutMs: number
  readonly #semaphores: ReadonlyMap<WebhookRoute, Semaphore>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #metrics: WebhookMetrics

  constructor(routes: readonly WebhookRoute[], options: WebhookRouterOptions = {}) {
    this.#routes = byPath(routes)
    this.#timeoutMs = options.handlerTimeoutMs ?? WEBHOOK_DEFAULTS.handlerTimeoutMs
    const limits = {
      maxConcurrent: options.maxConcurrent ?? WEBHOOK_DEFAULTS.maxConcurrent,
      maxWaiting: WEBHOOK_DEFAULTS.maxConnections,
    }
    this.#semaphores = new Map(routes.map((route) => [route, new Semaphore(limits)]))
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#metrics = webhookMetrics(options.metrics)
  }

  /** Whether one of the routes converts objects. */
  get converts(): boolean {
    return [...this.#routes.values()].some(({ converts = [] }) => converts.length > 0)
  }

  /** Handles a review. `body` must not be used afterwards: it is frozen. */
  handle(path: string, body: unknown, options: HandleOptions = {}): Promise<object> {
    return this.#measure(path, (route) => this.#respond(route, body, options))
  }

  /**
   * Handles the text of a request. One that exceeds the limits of {@link readReview} is rejected
   * before any handler sees it.
   */
  handleBytes(path: string, bytes: Uint8Array, options: HandleOptions = {}): Promise<object> {
    return this.#measure(path, async (route) => {
      const { review, failure } = readReview(bytes)
      if (failure === undefined) return this.#respond(route, review, options)
      this.#logger.warn({ path, reason: failure.message }, 'rejected a review that exceeds the limits')
      return route.refuse(review, failure)
    })
  }

  async #measure(path: string, respond: (route: WebhookRoute) => Promise<object>): Promise<object> {
    const route = this.#routes.get(path)
    if (route === undefined) throw new BadReviewError(404, 'no webhook is served at this path')
    const answered = this.#metrics.begin(path)
    const startedMs = this.#clock.now()
    let code = 200
    try {
      return await respond(route)
    } catch (error) {
      code = error instanceof BadReviewError ? error.status : 500
      throw error
    } finally {
      answered(code, this.#clock.now() - startedMs)
    }
  }

  async #respond(route: WebhookRoute, body: unknown, options: HandleOptions): Promise<object> {
    const timeoutMs = Math.max(1, Math.min(this.#timeoutMs, options.timeoutMs ?? Number.POSITIVE_INFINITY))
    const onTimeout = overdue(`the webhook ${route.path}`, timeoutMs)
    using deadline = new Deadline(timeoutMs, {
      clock: this.#clock,
      onTimeout,
      ...(options.signal && { signal: options.signal }),
    })
    const { signal } = deadline
    try {
      const leave = await this.#semaphores.get(route)?.enter(signal)
      // A handler that ignores its signal keeps its place until it ends: the limit is on handlers, not on responses.
      const response = route.respond(body, signal).finally(leave)
      return await untilAborted(response, signal)
    } catch (error) {
      if (error instanceof BadReviewError) throw error
      if (error instanceof SemaphoreFullError)
        throw new BadReviewError(503, 'too many requests are waiting, retry later')
      if (options.signal?.aborted) throw new BadReviewError(499, 'the client cancelled the request')
      return route.refuse(body, this.#failure(route, error, deadline.hasPassed, timeoutMs))
    }
  }

  #failure(route: WebhookRoute, error: unknown, isTimeout: boolean, timeoutMs: number): ReviewFailure {
    this.#logger.error({ err: error, path: route.path }, isTimeout ? 'webhook took too long' : 'webhook failed')
    if (isTimeout) {
      const message = `the webhook did not decide within ${timeoutMs} ms: try again, or see the log of the operator`
      return { code: 504, reason: 'Timeout', message }
    }
    const message = 'internal webhook error: see the log of the operator'
    return { code: 500, reason: 'InternalError', message }
  }
}

function byPath(routes: readonly WebhookRoute[]): ReadonlyMap<string, WebhookRoute> {
  const map = new Map<string, WebhookRoute>()
  for (const route of routes) {
    if (!/^\/[^?#]*$/.test(route.path)) {
      throw new RuntimeError(
        'WEBHOOK_PATH',
        `"${route.path}" is not a valid path of a webhook: it must start with / and have no query`,
      )
    }
    if (map.has(route.path)) throw new RuntimeError('WEBHOOK_PATH', `two webhooks have the path ${route.path}`)
    map.set(route.path, route)
  }
  return map
}
