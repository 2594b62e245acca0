/** A webhook plug-in whose webhooks are functions, and requests to put to it. */
import type { JsonObject } from '../../json.ts'
import type { ResourceInfo } from '../../registry/resource-info.ts'
import { StatusError } from '../../status-error.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { WebhookClient } from '../webhook-client.ts'
import { createWebhookAdmission, type WebhookAdmissionOptions } from '../webhooks.ts'
import { fakeClusterApi } from './fake-cluster-api.ts'
import { respond } from './webhook-server.ts'

/** Where mutating configurations are stored. */
export const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io'
/** Where validating configurations are stored. */
export const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

/** ConfigMaps, unless said otherwise. */
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

/** The creation of a ConfigMap, unless said otherwise. */
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

/** An entry of a configuration that wants to see everything. */
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

type Answers = Readonly<Record<string, (review: JsonObject) => unknown>>

/** A plug-in whose webhooks are functions by service name; `calls` records who was asked. */
export function admission(
  configurations: { mutating?: readonly JsonObject[]; validating?: readonly JsonObject[] },
  answers: Answers,
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
      const answer = answers[name]
      return answer === undefined ? undefined : Promise.resolve().then(() => answer(review))
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

/** Allows. */
export const allow = (review: JsonObject) => respond(review, { allowed: true })
/** Allows with a JSON patch. */
export function patching(...operations: JsonObject[]) {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return (review: JsonObject) => respond(review, { allowed: true, patchType: 'JSONPatch', patch })
}
/** Allows, and adds a label. */
export const label = (key: string) => patching({ op: 'add', path: '/metadata/labels', value: { [key]: 'yes' } })

/** The StatusError that a call ends with. */
export async function refusal(call: Promise<unknown>): Promise<StatusError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof StatusError) return error
  throw new Error(`expected a StatusError, got ${String(error)}`)
}
