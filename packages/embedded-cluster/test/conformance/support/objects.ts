/** Small builders of objects. */
import type { Json } from './conformance-api.ts'

/** Paths of collections in a namespace. */
export const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
export const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`
export const deployments = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`

/** A ConfigMap; `rest` has its data and more of its metadata. */
export function configMap(name: string, rest: { metadata?: Json; data?: Json } = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...rest.metadata },
    ...(rest.data !== undefined && { data: rest.data }),
  }
}

/** A Pod of one container. */
export function pod(name: string, rest: { metadata?: Json; spec?: Json } = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...rest.metadata },
    spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1' }], ...rest.spec },
  }
}

/** A template of pods with the label `app`. */
export function podTemplate(app: string, rest: { metadata?: Json; spec?: Json } = {}): Json {
  const { metadata, spec } = pod('', { spec: rest.spec })
  const { name: _, ...withoutName } = metadata
  return { metadata: { ...withoutName, labels: { app }, ...rest.metadata }, spec }
}

/** A Deployment whose pods have the label `app` with its name. */
export function deployment(name: string, spec: Json = {}): Json {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas: 0, selector: { matchLabels: { app: name } }, template: podTemplate(name), ...spec },
  }
}

/** A patch of a workload: another image for its pods. */
export const withImage = (image: string): Json => ({
  spec: { template: { spec: { containers: [{ name: 'main', image }] } } },
})

/**
 * An object without fields that the server generates: uid, versions, times and managedFields. Absent fields stay
 * absent, so that a case can assert that.
 */
export function normalised(object: Json): Json {
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  const masked: Json = { ...metadata }
  for (const [field, pattern] of Object.entries(patterns)) {
    if (typeof masked[field] === 'string' && pattern.test(masked[field])) masked[field] = `<${field}>`
  }
  return { ...object, metadata: masked }
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const patterns = {
  uid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  resourceVersion: /^[1-9]\d*$/,
  creationTimestamp: time,
  deletionTimestamp: time,
}
