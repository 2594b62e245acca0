/** A webhook plug-in whose webhooks are functions, and requests to test it with. */

import type { AdmissionAttributes } from '../../api/admission-plugin.ts'
import type { JsonObject } from '../../json.ts'
import type { ResourceInfo } from '../../registry/resource-info.ts'
import { StatusError } from '../../status-error.ts'
import { WebhookClient } from '../webhook-client.ts'
import { createWebhookAdmission, type WebhookAdmissionOptions } from '../webhooks.ts'
import { fakeClusterApi } from './fake-cluster-api.ts'
import { respond } from './webhook-server.ts'

/** The resource of mutating configurations. */
const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io'
/** The resource of validating configurations. */
export const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

/** ConfigMaps by default. */
export function resource(overrides: Partial<ResourceInfo> = {}): ResourceInfo {
  return {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    listKind: 'ConfigMapList',
    plural: 'configmaps',
    singular: 'configmap',
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: [],
    subresources: [],
    storageVersion: 'v1',
    schema: undefined,
    custom: false,
    ...overrides,
  }
}

/** The creation of a ConfigMap by default. */
export function attributes(overrides: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  return {
    operation: 'CREATE',
    resource: resource(),
    subresource: undefined,
    namespace: 'ns',
    name: 'x',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'ns' } },
    oldObject: undefined,
    user: { username: 'jane', groups: ['devs'] },
    dryRun: false,
    options: {},
    warn: () => undefined,
    signal: new AbortController().signal,
    ...overrides,
  }
}

/** An entry of a configuration that matches every request. */
export function webhook(name: string, overrides: JsonObject = {}): JsonObject {
  return {
    name,
    clientConfig: { service: { namespace: 'sys', name } },
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...overrides,
  }
}

type Handlers = Readonly<Record<string, (review: JsonObject) => unknown>>

/** A plug-in whose webhooks are functions by service name; `calls` records which were called. */
export function admission(
  configurations: { mutating?: readonly JsonObject[]; validating?: readonly JsonObject[] },
  handlers: Handlers,
  options: Partial<WebhookAdmissionOptions> = {},
) {
  const calls: string[] = []
  const reviews: JsonObject[] = []
  const configuration = (hook: JsonObject, index: number) => ({
    metadata: { name: `config-${index}` },
    webhooks: [hook],
  })
  const api = fakeClusterApi({
    [MUTATING]: (configurations.mutating ?? []).map(configuration),
    [VALIDATING]: (configurations.validating ?? []).map(configuration),
    namespaces: [{ metadata: { name: 'ns', labels: { team: 'a' } } }],
  })
  const client = new WebhookClient({
    callWebhook: ({ service, review }) => {
      const name = service?.name ?? ''
      calls.push(name)
      reviews.push(review)
      const handler = handlers[name]
      return handler === undefined ? undefined : Promise.resolve().then(() => handler(review))
    },
  })
  const plugin = createWebhookAdmission({ api, client, ...options })
  return {
    api,
    calls,
    reviews,
    mutate: async (of: AdmissionAttributes) => plugin.mutate?.(of),
    validate: async (of: AdmissionAttributes) => plugin.validate?.(of),
  }
}

/** Allows the request. */
export const allow = (review: JsonObject) => respond(review, { allowed: true })
/** Allows the request with a JSON patch. */
export function patching(...operations: JsonObject[]) {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return (review: JsonObject) => respond(review, { allowed: true, patchType: 'JSONPatch', patch })
}
/** Allows the request and adds a label. */
export const label = (key: string) => patching({ op: 'add', path: '/metadata/labels', value: { [key]: 'yes' } })

/** The StatusError that a call rejects with. */
export async function refusal(call: Promise<unknown>): Promise<StatusError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof StatusError) return error
  throw new Error(`expected a StatusError, got ${String(error)}`)
}
