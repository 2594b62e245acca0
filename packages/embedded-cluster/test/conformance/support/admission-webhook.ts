/** Admission webhooks that see only the writes of the case that registers them. */
import type { ServerResponse } from 'node:http'
import { type ConformanceApi, type Json, unique } from './conformance-api.ts'
import { until } from './until.ts'
import { startWebhook } from './webhook-server.ts'

/** An AdmissionResponse without its uid, or a reply that is none. */
export type Verdict = (request: Json, response: ServerResponse) => Json

/** A webhook that the cluster asks. */
export interface AdmissionWebhook extends AsyncDisposable {
  /** The requests it was asked about so far, without those that only tested whether it is on. */
  readonly requests: Json[]
  readonly configuration: string
  /** How it answers from now on. */
  verdict: Verdict
}

/** What a case says about its webhook. */
export interface WebhookParts {
  /** Fields of its entry in the configuration. */
  readonly entry?: Json
  /** Fields of its rule. */
  readonly rule?: Json
  readonly verdict?: Verdict
  /** The beginning of the configuration's name, by which webhooks are ordered. */
  readonly prefix?: string
  /** A write, for trial, that it must be asked about. @default a ConfigMap in the namespace */
  readonly probe?: () => Promise<unknown>
}

const PROBE = 'webhook-probe'

/** The labels of the ConfigMap that tests whether a webhook is on: selectors in cases select it. */
export const PROBE_LABELS = { probe: 'yes' }

export const allow: Verdict = () => ({ allowed: true })

/** Allows with a JSON patch. */
export function patching(...operations: readonly Json[]): Verdict {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return () => ({ allowed: true, patchType: 'JSONPatch', patch })
}

/**
 * Registers a webhook for the ConfigMaps of a namespace, unless `parts` say otherwise, and waits until it is asked.
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
    const answer = (verdict: Json) =>
      typeof verdict === 'object' && ('allowed' in verdict || 'raw' in verdict)
        ? (verdict.raw ?? {
            apiVersion: 'admission.k8s.io/v1',
            kind: 'AdmissionReview',
            response: { uid: request.uid, ...verdict },
          })
        : verdict
    if (!state.isReady) {
      state.isAsked = true
      return answer(allow(request, response))
    }
    // Every namespace gets this one from the cluster itself, in its own time.
    if (request.name === 'kube-root-ca.crt') return answer(allow(request, response))
    requests.push(request)
    return answer(state.verdict(request, response))
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
  await until(`${configuration} is asked`, async () => {
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
