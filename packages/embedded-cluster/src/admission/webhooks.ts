/** Mutating and validating webhooks as an admission plug-in: whom to ask, in which order, and what to do with answers. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import { badRequest, internalError } from '../rest/api-errors.ts'
import type { ClusterApi } from '../rest/cluster-api.ts'
import { StatusError } from '../status-error.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { type AdmissionVerdict, denial, InvalidReviewError, readReview, writeReview } from './admission-review.ts'
import { type CompileCondition, MatchConditions } from './match-conditions.ts'
import { applyReviewPatch } from './review-patch.ts'
import { WebhookCallError, type WebhookClient } from './webhook-client.ts'
import { type Webhook, WebhookConfigurations, type WebhookKind } from './webhook-configuration.ts'
import { isExempt, matchRules, matchSelectors } from './webhook-match.ts'

/** What the plug-in works with. */
export interface WebhookAdmissionOptions {
  readonly api: Pick<ClusterApi, 'get' | 'list' | 'subscribe'>
  readonly client: WebhookClient
  /** Every version in which a resource is served, for webhooks that accept equivalents. @default none but its own */
  readonly versionsOf?: (groupResource: string) => readonly ResourceInfo[]
  /** Converts an object between versions of its resource. @default refuses */
  readonly convert?: (object: JsonObject, to: ResourceInfo, signal: AbortSignal) => Promise<JsonObject>
  /** Prunes and defaults an object after a webhook changed it. @default leaves it as it is */
  readonly settle?: (object: JsonObject, resource: ResourceInfo) => JsonObject
  /** Built-in plug-ins that look at the object once more after a webhook changed it. @default none */
  readonly reinvoked?: readonly AdmissionPlugin[]
  /** Compiles match conditions. @default the cluster's CEL */
  readonly compileCondition?: CompileCondition
  /** @default crypto.randomUUID */
  readonly randomUuid?: () => string
}

/** The plug-in, and how to let go of what it follows. */
export interface WebhookAdmission extends AdmissionPlugin {
  close(): void
}

/**
 * The admission plug-in that asks the cluster's webhooks. Mutating ones are asked one after the other, each seeing
 * what those before made of the object; validating ones all at once.
 *
 * *Errors*: a denial is the Status the webhook asked for; a failed call under `failurePolicy: Fail` is a 500 that
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
    this.#conditions = new MatchConditions(options.compileCondition)
    this.#randomUuid = options.randomUuid ?? randomUUID
  }

  /**
   * First round: all webhooks. Whenever one changes the object, the reinvocable ones asked before it are due again;
   * they get one second round, whose changes trigger nothing more.
   */
  async mutate(webhooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<JsonObject | undefined> {
    let current = attributes
    const asked = new Set<Webhook>()
    const due = new Set<Webhook>()
    const requireAgain = () => {
      for (const webhook of asked) due.add(webhook)
      asked.clear()
    }
    for (const webhook of webhooks) {
      const outcome = await this.#mutateOnce(webhook, current)
      if (outcome === 'skipped') continue
      if (outcome !== 'unchanged') {
        current = { ...current, object: outcome }
        requireAgain()
      }
      if (webhook.isReinvocable) asked.add(webhook)
    }
    if (current.object === attributes.object) return current.object
    const revisited = await this.#revisit(current)
    if (revisited !== current.object) {
      requireAgain()
      current = { ...current, object: revisited }
    }
    for (const webhook of webhooks) {
      if (!due.has(webhook)) continue
      const outcome = await this.#mutateOnce(webhook, current)
      if (typeof outcome !== 'string') current = { ...current, object: outcome }
    }
    return current.object
  }

  async validate(webhooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<void> {
    const outcomes = await Promise.allSettled(webhooks.map((webhook) => this.#ask(webhook, 'validating', attributes)))
    // The first in order of configuration speaks for all, so that the same request is refused the same way again.
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    if (refused !== undefined) throw refused.reason
  }

  /** Lets the built-in plug-ins fill in what a webhook's change made necessary, such as a new container's mounts. */
  async #revisit(attributes: AdmissionAttributes): Promise<JsonObject | undefined> {
    let { object } = attributes
    for (const plugin of this.#options.reinvoked ?? []) {
      if (plugin.mutate !== undefined) object = await plugin.mutate({ ...attributes, object })
    }
    return isDeepStrictEqual(object, attributes.object) ? attributes.object : object
  }

  async #mutateOnce(webhook: Webhook, attributes: AdmissionAttributes): Promise<JsonObject | 'unchanged' | 'skipped'> {
    const answer = await this.#ask(webhook, 'mutating', attributes)
    if (answer === undefined) return 'skipped'
    if (answer.verdict.patch === undefined) return 'unchanged'
    const { object } = attributes
    if (object === undefined || answer.object === undefined) {
      const name = JSON.stringify(webhook.name)
      throw internalError(
        `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
      )
    }
    const patched = applyReviewPatch(webhook.name, answer.object, answer.verdict.patch)
    const settled = this.#settle(patched, answer.seenAs)
    requireSameNamespace(settled, attributes)
    if (isDeepStrictEqual(settled, answer.object)) return 'unchanged'
    return this.#inVersion(settled, attributes.resource, attributes)
  }

  /** A change that does not fit the kind's types is the webhook's mistake, not the client's. */
  #settle(patched: JsonObject, seenAs: ResourceInfo): JsonObject {
    // What a subresource such as scale carries is of another kind, with defaults of its own.
    if (patched.kind !== seenAs.kind) return patched
    try {
      return this.#options.settle?.(patched, seenAs) ?? patched
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const why = error.message.replace(/^\S+ in version "[^"]*" cannot be handled as a \S+: /, '')
      throw internalError(why, { cause: error })
    }
  }

  /** Asks one webhook; `undefined` when it does not want the request, or failed and may be ignored. */
  async #ask(
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
    const verdict = await this.#call(webhook, kind, attributes, review, uid)
    if (verdict === undefined) return undefined
    for (const warning of verdict.warnings) if (isPrintable(warning)) attributes.warn(warning)
    if (!verdict.allowed) throw denial(webhook.name, verdict.status)
    return { verdict, seenAs, object }
  }

  async #call(
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
      const answer = await this.#options.client.post(webhook.clientConfig, review, {
        timeoutSeconds,
        signal: attributes.signal,
      })
      return readReview(answer, uid, kind === 'mutating')
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
    // Subresources such as scale have an API version of their own, which no conversion touches.
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

/** Warnings become a header, where control characters would let a webhook forge others: such warnings are dropped. */
function isPrintable(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text)
}
