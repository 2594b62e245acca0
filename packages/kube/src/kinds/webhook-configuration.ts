/** Admission webhook configurations. */
import type { KubeObject } from '../objects.ts'
import type { LabelSelector } from './label-selector.ts'

/** How the API server reaches a webhook: `service` or `url`. */
export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace: string
    readonly name: string
    readonly path?: string
    readonly port?: number
  }
  /** PEM bundle in base64. */
  readonly caBundle?: string
}

/** Requests for which a webhook is called. */
export interface RuleWithOperations {
  readonly operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | '*')[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: 'Cluster' | 'Namespaced' | '*'
}

/** One validating webhook. */
export interface ValidatingWebhook {
  readonly name: string
  readonly clientConfig: WebhookClientConfig
  readonly admissionReviewVersions: readonly string[]
  readonly sideEffects: 'None' | 'NoneOnDryRun'
  readonly rules?: readonly RuleWithOperations[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  readonly timeoutSeconds?: number
}

/** One mutating webhook. */
export interface MutatingWebhook extends ValidatingWebhook {
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

/** `admissionregistration.k8s.io/v1` ValidatingWebhookConfiguration. */
export interface ValidatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly ValidatingWebhook[]
}

/** `admissionregistration.k8s.io/v1` MutatingWebhookConfiguration. */
export interface MutatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly MutatingWebhook[]
}
