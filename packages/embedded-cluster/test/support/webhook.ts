/** Admission webhooks on loopback that both clusters call, enabled for one namespace at a time. */
import type { ServerResponse } from 'node:http'
import type { ClusterUnderTest } from '@reeve/cluster-under-test'
import { respond, startWebhookServer, type WebhookServer } from '../../src/admission/testing/webhook-server.ts'
import { isJsonObject, type JsonObject } from '../../src/json.ts'
import { eventually } from './eventually.ts'

/** Returns the response to a review; may write to the response itself and return `undefined`. */
export type ReviewHandler = (review: JsonObject, response: ServerResponse) => unknown

/** A webhook that the cluster calls. */
export interface TestWebhook extends AsyncDisposable {
  /** Replaces the handler of the webhook from now on. */
  answer: ReviewHandler
  /** The requests of all reviews so far, except for probes and what the cluster does by itself. */
  readonly requests: JsonObject[]
  readonly server: WebhookServer
}

const PROBE = 'webhook-probe'
/** The cluster creates it in every new namespace, on a real control plane in its own time. */
const ROOT_CERTIFICATES = 'kube-root-ca.crt'
/** Allows the request. */
export const allow: ReviewHandler = (review) => respond(review, { allowed: true })

/** Allows the request with a JSON patch. */
export function patching(...operations: JsonObject[]): ReviewHandler {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return (review) => respond(review, { allowed: true, patchType: 'JSONPatch', patch })
}

/**
 * Registers a webhook for ConfigMaps of `namespace` and waits until the server calls it. Fields of the configuration's
 * entry can be replaced by `overrides`.
 */
export async function installWebhook(
  cluster: ClusterUnderTest,
  kind: 'mutating' | 'validating',
  namespace: string,
  overrides: JsonObject = {},
): Promise<TestWebhook> {
  const requests: JsonObject[] = []
  const seen = { probe: false }
  const state: { answer: ReviewHandler } = { answer: allow }
  const server = await startWebhookServer(['127.0.0.1'], (review, response) => {
    const request = isJsonObject(review.request) ? review.request : {}
    if (request.name === PROBE) {
      seen.probe = true
      return allow(review, response)
    }
    if (request.name === ROOT_CERTIFICATES) return allow(review, response)
    requests.push(request)
    return state.answer(review, response)
  })
  const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
  const name = `${kind}-${namespace}`
  const entry = {
    name: 'hook.example.com',
    clientConfig: { url: `https://127.0.0.1:${server.port}/review`, caBundle: server.caBundle },
    rules: [
      { operations: ['CREATE', 'UPDATE', 'DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    ...overrides,
  }
  const created = await cluster.raw.send({ method: 'POST', path, body: { metadata: { name }, webhooks: [entry] } })
  if (created.status !== 201) throw new Error(`webhook configuration rejected: ${created.text}`)
  if (overrides.clientConfig === undefined) {
    await eventually(`${name} is called`, async () => {
      await probe(cluster, namespace)
      return seen.probe
    })
  } else {
    await eventually(`${name} is enabled`, async () => (await probe(cluster, namespace)) >= 400)
  }
  return {
    get answer() {
      return state.answer
    },
    set answer(answer: ReviewHandler) {
      state.answer = answer
    },
    requests,
    server,
    async [Symbol.asyncDispose]() {
      await cluster.raw.send({ method: 'DELETE', path: `${path}/${name}` })
      await server[Symbol.asyncDispose]()
    },
  }
}

/** A write without changes for which every webhook of the namespace is called. */
async function probe(cluster: ClusterUnderTest, namespace: string): Promise<number> {
  const { status } = await cluster.raw.send({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
    body: { metadata: { name: PROBE, labels: { probe: 'yes', app: 'x' } } },
  })
  return status
}
