/** Admission webhooks that get only the writes of the case that registers them. */
import type { ServerResponse } from 'node:http'
import { type ConformanceApi, type Json, unique } from './conformance-api.ts'
import { until } from './until.ts'
import { startWebhook } from './webhook-server.ts'

/** An AdmissionResponse without its uid, or any other reply. */
export type Verdict = (request: Json, response: ServerResponse) => Json

/** A webhook that the cluster calls. */
export interface AdmissionWebhook extends AsyncDisposable {
  /** The requests it has received so far, without probes. */
  readonly requests: Json[]
  readonly configuration: string
  /** The handler from now on. */
  verdict: Verdict
}

/** Options of a webhook. */
export interface WebhookParts {
  /** Fields of its entry in the configuration. */
  readonly entry?: Json
  /** Fields of its rule. */
  readonly rule?: Json
  readonly verdict?: Verdict
  /** The prefix of the configuration's name, by which webhooks are ordered. */
  readonly prefix?: string
  /** A dry-run write for which it must be called. @default a ConfigMap in the namespace */
  readonly probe?: () => Promise<unknown>
}

const PROBE = 'webhook-probe'

/** The labels of the ConfigMap that probes whether a webhook is active: selectors in cases must match it. */
export const PROBE_LABELS = { probe: 'yes' }

export const allow: Verdict = () => ({ allowed: true })

/** Allows the request with a JSON patch. */
export function patching(...operations: readonly Json[]): Verdict {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return () => ({ allowed: true, patchType: 'JSONPatch', patch })
}

/**
 * Registers a webhook for the ConfigMaps of a namespace, unless `parts` overrides it, and waits until it is called.
 *
 * @example
 * await using webhook = await admissionWebhook(api, 'validating', namespace)
 * webhook.verdict = () => ({ allowed: false, status: { message: 'no' } })
 */
export async function admissionWebhook(
  api: ConformanceApi,
  kind: 'mutating' | 'validating',
  namespace: string,
  parts: WebhookParts = {},
): Promise<AdmissionWebhook> {
  const { entry = {}, rule = {}, prefix = kind } = parts
  const requests: Json[] = []
  const state = { verdict: parts.verdict ?? allow, isAsked: false, isReady: false }
  const server = await startWebhook(({ request }, response) => {
    const reviewOf = (verdict: Json) =>
      typeof verdict === 'object' && ('allowed' in verdict || 'raw' in verdict)
        ? (verdict.raw ?? {
            apiVersion: 'admission.k8s.io/v1',
            kind: 'AdmissionReview',
            response: { uid: request.uid, ...verdict },
          })
        : verdict
    if (!state.isReady) {
      state.isAsked = true
      return reviewOf(allow(request, response))
    }
    // The cluster creates this one in every namespace, asynchronously.
    if (request.name === 'kube-root-ca.crt') return reviewOf(allow(request, response))
    requests.push(request)
    return reviewOf(state.verdict(request, response))
  })
  const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
  const configuration = unique(prefix)
  const webhook = {
    name: 'hook.example.com',
    clientConfig: { url: `${server.url}/review`, caBundle: server.caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], ...rule }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    ...entry,
  }
  await api.create(path, { metadata: { name: configuration }, webhooks: [webhook] })
  const probe =
    parts.probe ??
    (() =>
      api.post(`/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, {
        metadata: { name: PROBE, labels: PROBE_LABELS },
      }))
  await until(`${configuration} is called`, async () => {
    await probe()
    return state.isAsked
  })
  state.isReady = true
  return {
    requests,
    configuration,
    get verdict() {
      return state.verdict
    },
    set verdict(verdict: Verdict) {
      state.verdict = verdict
    },
    async [Symbol.asyncDispose]() {
      await api.delete(`${path}/${configuration}`)
      await server[Symbol.asyncDispose]()
    },
  }
}
