/**
 * Mutating and validating webhooks as an admission plug-in: which to call, in which order, and how to handle responses.
 */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { badRequest, internalError } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import { StatusError } from '../status-error.ts'
import { type AdmissionVerdict, denial, InvalidReviewError, readReview, writeReview } from './admission-review.ts'
import { type MatchConditionOptions, MatchConditions } from './match-conditions.ts'
import { applyReviewPatch } from './review-patch.ts'
import { WebhookCallError, type WebhookClient } from './webhook-client.ts'
import { type Webhook, WebhookConfigurations, type WebhookKind } from './webhook-configuration.ts'
import { isExempt, matchRules, matchSelectors } from './webhook-match.ts'

/** Options of {@link createWebhookAdmission}. */
export interface WebhookAdmissionOptions extends MatchConditionOptions {
  readonly api: Pick<ClusterApi, 'get' | 'list' | 'subscribe'>
  readonly client: WebhookClient
  /** Every version in which a resource is served, for webhooks that accept equivalents. @default only its own */
  readonly versionsOf?: (groupResource: string) => readonly ResourceInfo[]
  /** Converts an object between versions of its resource. @default fails */
  readonly convert?: (object: JsonObject, to: ResourceInfo, signal: AbortSignal) => Promise<JsonObject>
  /** Prunes and defaults an object after a webhook changed it. @default leaves it as it is */
  readonly settle?: (object: JsonObject, resource: ResourceInfo) => JsonObject
  /** Built-in plug-ins that process the object again after a webhook changed it. @default none */
  readonly reinvoked?: readonly AdmissionPlugin[]
  /** @default crypto.randomUUID */
  readonly randomUuid?: () => string
}

/** The plug-in; `close` stops its watches. */
export interface WebhookAdmission extends AdmissionPlugin {
  close(): void
}

/**
 * The admission plug-in that calls the cluster's webhooks. Mutating webhooks run one after the other, each on the
 * result of the previous one; validating webhooks run concurrently.
 *
 * *Errors*: a denial has the Status that the webhook returned; a failed call under `failurePolicy: Fail` is a 500 that
 * names the webhook; an aborted request is a 504.
 *
 * @example
 * const webhooks = createWebhookAdmission({ api, client: new WebhookClient({ resolveService }) })
 */
export function createWebhookAdmission(options: WebhookAdmissionOptions): WebhookAdmission {
  const configurations = new WebhookConfigurations(options.api)
  const dispatcher = new Dispatcher(options)
  return {
    name: 'Webhooks',
    mutate: (attributes) => {
      if (isExempt(attributes)) return attributes.object
      const webhooks = configurations.webhooks('mutating')
      return webhooks.length === 0 ? attributes.object : dispatcher.mutate(webhooks, attributes)
    },
    validate: (attributes) => {
      if (isExempt(attributes)) return undefined
      const webhooks = configurations.webhooks('validating')
      return webhooks.length === 0 ? undefined : dispatcher.validate(webhooks, attributes)
    },
    close: () => configurations.close(),
  }
}

class Dispatcher {
  readonly #options: WebhookAdmissionOptions
  readonly #randomUuid: () => string
  readonly #conditions: MatchConditions

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options
    this.#conditions = new MatchConditions(options)
    this.#randomUuid = options.randomUuid ?? randomUUID
  }

  /**
   * First round: all webhooks. Whenever one changes the object, the reinvocable ones called before it are scheduled for
   * one second round, whose changes trigger no further calls.
   */
  async mutate(webhooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<JsonObject | undefined> {
    let current = attributes
    const called = new Set<Webhook>()
    const due = new Set<Webhook>()
    const requireAgain = () => {
      for (const webhook of called) due.add(webhook)
      called.clear()
    }
    for (const webhook of webhooks) {
      const outcome = await this.#callMutating(webhook, current)
      if (outcome === 'skipped') continue
      if (outcome !== 'unchanged') {
        current = { ...current, object: outcome }
        requireAgain()
      }
      if (webhook.isReinvocable) called.add(webhook)
    }
    if (current.object === attributes.object) return current.object
    const reinvoked = await this.#reinvokePlugins(current)
    if (reinvoked !== current.object) {
      requireAgain()
      current = { ...current, object: reinvoked }
    }
    for (const webhook of webhooks) {
      if (!due.has(webhook)) continue
      const outcome = await this.#callMutating(webhook, current)
      if (typeof outcome !== 'string') current = { ...current, object: outcome }
    }
    return current.object
  }

  async validate(webhooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<void> {
    const outcomes = await Promise.allSettled(webhooks.map((webhook) => this.#call(webhook, 'validating', attributes)))
    // The first denial in configuration order is returned, so that the same request is always rejected in the same way.
    const denied = outcomes.find((outcome) => outcome.status === 'rejected')
    if (denied !== undefined) throw denied.reason
  }

  /** Lets the built-in plug-ins complete a webhook's change, such as the mounts of a new container. */
  async #reinvokePlugins(attributes: AdmissionAttributes): Promise<JsonObject | undefined> {
    let { object } = attributes
    for (const plugin of this.#options.reinvoked ?? []) {
      if (plugin.mutate !== undefined) object = await plugin.mutate({ ...attributes, object })
    }
    return isDeepStrictEqual(object, attributes.object) ? attributes.object : object
  }

  async #callMutating(
    webhook: Webhook,
    attributes: AdmissionAttributes,
  ): Promise<JsonObject | 'unchanged' | 'skipped'> {
    const response = await this.#call(webhook, 'mutating', attributes)
    if (response === undefined) return 'skipped'
    if (response.verdict.patch === undefined) return 'unchanged'
    const { object } = attributes
    if (object === undefined || response.object === undefined) {
      const name = JSON.stringify(webhook.name)
      throw internalError(
        `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
      )
    }
    const patched = applyReviewPatch(webhook.name, response.object, response.verdict.patch)
    const settled = this.#settle(patched, response.seenAs)
    requireSameNamespace(settled, attributes)
    if (isDeepStrictEqual(settled, response.object)) return 'unchanged'
    return this.#inVersion(settled, attributes.resource, attributes)
  }

  /** A change that does not match the kind's types is the webhook's error, not the client's. */
  #settle(patched: JsonObject, seenAs: ResourceInfo): JsonObject {
    // The object of a subresource such as scale has another kind with its own defaults.
    if (patched.kind !== seenAs.kind) return patched
    try {
      return this.#options.settle?.(patched, seenAs) ?? patched
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const why = error.message.replace(/^\S+ in version "[^"]*" cannot be handled as a \S+: /, '')
      throw internalError(why, { cause: error })
    }
  }

  /** Calls one webhook; `undefined` if it does not match the request, or failed and may be ignored. */
  async #call(
    webhook: Webhook,
    kind: WebhookKind,
    attributes: AdmissionAttributes,
  ): Promise<{ verdict: AdmissionVerdict; seenAs: ResourceInfo; object: JsonObject | undefined } | undefined> {
    const versions = this.#options.versionsOf?.(groupResource(attributes.resource)) ?? []
    const seenAs = matchRules(webhook, attributes, versions)
    if (seenAs === undefined || !matchSelectors(webhook, attributes, (name) => this.#namespaceLabels(name))) {
      return undefined
    }
    const object = await this.#inVersion(attributes.object, seenAs, attributes)
    const oldObject = await this.#inVersion(attributes.oldObject, seenAs, attributes)
    const uid = this.#randomUuid()
    const review = writeReview(uid, attributes, seenAs, object, oldObject)
    if (!(await this.#conditions.hold(webhook, attributes, review))) return undefined
    if (attributes.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
    }
    const verdict = await this.#post(webhook, kind, attributes, review, uid)
    if (verdict === undefined) return undefined
    for (const warning of verdict.warnings) if (isPrintable(warning)) attributes.warn(warning)
    if (!verdict.allowed) throw denial(webhook.name, verdict.status)
    return { verdict, seenAs, object }
  }

  async #post(
    webhook: Webhook,
    kind: WebhookKind,
    attributes: AdmissionAttributes,
    review: JsonObject,
    uid: string,
  ): Promise<AdmissionVerdict | undefined> {
    const { timeoutSeconds } = webhook
    try {
      if (!webhook.admissionReviewVersions.includes('v1'))
        throw new InvalidReviewError('the webhook does not accept v1 reviews')
      const response = await this.#options.client.post(webhook.clientConfig, review, {
        timeoutSeconds,
        signal: attributes.signal,
      })
      return readReview(response, uid, kind === 'mutating')
    } catch (error) {
      if (attributes.signal.aborted) throw requestTimeout(error)
      const why = callFailure(error)
      if (why === undefined) throw error
      if (webhook.failurePolicy === 'Ignore') return undefined
      throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`, { cause: error })
    }
  }

  async #inVersion<T extends JsonObject | undefined>(
    object: T,
    to: ResourceInfo,
    attributes: AdmissionAttributes,
  ): Promise<T | JsonObject> {
    const wanted = to.group === '' ? to.version : `${to.group}/${to.version}`
    // Subresources such as scale have their own API version, which is never converted.
    const isWhole = isJsonObject(object) && object.kind === to.kind
    if (object === undefined || !isWhole || object.apiVersion === wanted) return object
    if (this.#options.convert === undefined) {
      throw internalError(`no conversion of ${groupResource(to)} to ${to.version} for admission`)
    }
    return this.#options.convert(object, to, attributes.signal)
  }

  #namespaceLabels(namespace: string): JsonObject | undefined {
    const found = this.#options.api.get('namespaces', undefined, namespace)
    if (found === undefined) return undefined
    const { metadata } = found
    return isJsonObject(metadata) && isJsonObject(metadata.labels) ? metadata.labels : {}
  }
}

function requireSameNamespace(object: JsonObject, { resource, namespace, subresource }: AdmissionAttributes): void {
  if (!resource.namespaced || (subresource ?? '') !== '') return
  if ((stringAt(objectAt(object, 'metadata'), 'namespace') ?? namespace) === namespace) return
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

function callFailure(error: unknown): string | undefined {
  if (error instanceof WebhookCallError) return `failed to call webhook: ${error.message}`
  if (error instanceof InvalidReviewError) return error.message
  return undefined
}

function requestTimeout(cause: unknown): StatusError {
  const message = 'Timeout: request did not complete within requested timeout'
  return new StatusError(504, 'Timeout', message, {}, { cause })
}

/**
 * Warnings become a header, where control characters would let a webhook forge other headers: such warnings are
 * dropped.
 */
function isPrintable(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text)
}
