/** Reads the webhook configurations of a cluster into a list of webhooks, and keeps it up to date. */

import type { ClusterApi } from '../api/cluster-api.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

/** The requests that a webhook matches. */
export interface WebhookRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  /** Such as `pods`, `pods/status`, `*`, `*\/*`, `pods/*`. */
  readonly resources: readonly string[]
  readonly scope: string
  /** Only rules of policies have names; absent means all. */
  readonly resourceNames?: readonly string[]
}

/** A CEL expression that must be true for the webhook to be called. */
export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

/** One entry of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration, with defaults. */
export interface Webhook {
  /** Unique among all webhooks: configuration, index and name. */
  readonly id: string
  readonly name: string
  readonly clientConfig: JsonObject
  readonly rules: readonly WebhookRule[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly matchPolicy: 'Exact' | 'Equivalent'
  readonly namespaceSelector: JsonObject
  readonly objectSelector: JsonObject
  readonly sideEffects: string
  readonly timeoutSeconds: number
  readonly admissionReviewVersions: readonly string[]
  readonly matchConditions: readonly MatchCondition[]
  /** Always false for validating webhooks. */
  readonly isReinvocable: boolean
}

/** Whether a webhook may change the object or only reject it. */
export type WebhookKind = 'mutating' | 'validating'

const resources = {
  mutating: 'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  validating: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
} as const

const DEFAULT_TIMEOUT_SECONDS = 10

/** The webhooks of a cluster, in the order they are called. They are reloaded only after a configuration changed. */
export class WebhookConfigurations {
  readonly #api: Pick<ClusterApi, 'list' | 'subscribe'>
  readonly #known = new Map<WebhookKind, readonly Webhook[]>()
  readonly #unsubscribe: () => void

  constructor(api: Pick<ClusterApi, 'list' | 'subscribe'>) {
    this.#api = api
    this.#unsubscribe = api.subscribe((event) => {
      if (event.resource === resources.mutating) this.#known.delete('mutating')
      else if (event.resource === resources.validating) this.#known.delete('validating')
    })
  }

  /** Ordered by the configuration's name, then by position in it. */
  webhooks(kind: WebhookKind): readonly Webhook[] {
    const known = this.#known.get(kind)
    if (known !== undefined) return known
    const configurations = [...this.#api.list(resources[kind])].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    const webhooks = configurations.flatMap(readConfiguration)
    this.#known.set(kind, webhooks)
    return webhooks
  }

  /** Stops watching for changes. */
  close(): void {
    this.#unsubscribe()
  }
}

function readConfiguration(configuration: JsonObject): Webhook[] {
  return objects(configuration.webhooks).map((webhook, index) => ({
    id: `${nameOf(configuration)}/${index}/${String(webhook.name)}`,
    name: String(webhook.name),
    clientConfig: isJsonObject(webhook.clientConfig) ? webhook.clientConfig : {},
    rules: objects(webhook.rules).map(readRule),
    failurePolicy: webhook.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
    matchPolicy: webhook.matchPolicy === 'Exact' ? 'Exact' : 'Equivalent',
    namespaceSelector: isJsonObject(webhook.namespaceSelector) ? webhook.namespaceSelector : {},
    objectSelector: isJsonObject(webhook.objectSelector) ? webhook.objectSelector : {},
    sideEffects: typeof webhook.sideEffects === 'string' ? webhook.sideEffects : 'Unknown',
    timeoutSeconds: typeof webhook.timeoutSeconds === 'number' ? webhook.timeoutSeconds : DEFAULT_TIMEOUT_SECONDS,
    admissionReviewVersions: strings(webhook.admissionReviewVersions),
    matchConditions: objects(webhook.matchConditions).map((condition) => ({
      name: String(condition.name),
      expression: String(condition.expression),
    })),
    isReinvocable: webhook.reinvocationPolicy === 'IfNeeded',
  }))
}

/** A rule of a webhook or policy. */
export function readRule(rule: JsonObject): WebhookRule {
  const names = strings(rule.resourceNames)
  return {
    operations: strings(rule.operations),
    apiGroups: strings(rule.apiGroups),
    apiVersions: strings(rule.apiVersions),
    resources: strings(rule.resources),
    scope: typeof rule.scope === 'string' ? rule.scope : '*',
    ...(names.length === 0 ? {} : { resourceNames: names }),
  }
}

function nameOf(object: JsonObject): string {
  return isJsonObject(object.metadata) ? String(object.metadata.name) : ''
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
