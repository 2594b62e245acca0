/** Builds the paths of requests. Untrusted values are encoded or rejected. */
import { InvalidRequestError } from './errors.ts'
import type { ObjectKey } from './objects.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** Values of query parameters; `undefined`, `false` and empty strings are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * The path of a collection, in one namespace or in all.
 *
 * @example
 * collectionPath(Deployments, 'shop') // '/apis/apps/v1/namespaces/shop/deployments'
 */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${segment(resource.version, 'version')}` : groupRoot(resource)
  const plural = segment(resource.plural, 'plural')
  if (namespace === undefined || namespace === '') return `${root}/${plural}`
  if (!resource.namespaced) {
    throw new InvalidRequestError(
      `${apiVersionOf(resource)} ${resource.kind} is cluster-scoped: leave out the namespace "${namespace}"`,
    )
  }
  return `${root}/namespaces/${segment(namespace, 'namespace')}/${plural}`
}

/**
 * The path of one object or of a subresource of it.
 *
 * @example
 * objectPath(Nodes, { name: 'node-1' }, 'status') // '/api/v1/nodes/node-1/status'
 */
export function objectPath(resource: Resource, key: ObjectKey, subresource?: string): string {
  requireNamespace(resource, key.namespace)
  const path = `${collectionPath(resource, key.namespace)}/${segment(key.name, 'name')}`
  return subresource === undefined ? path : `${path}/${subresource.split('/').map(subresourceSegment).join('/')}`
}

/** Throws if an object of a namespaced kind has no namespace: the path would address all namespaces. */
export function requireNamespace(resource: Resource, namespace: string | undefined): void {
  if (resource.namespaced && !namespace) {
    throw new InvalidRequestError(
      `${apiVersionOf(resource)} ${resource.kind} is namespaced: metadata.namespace is missing`,
    )
  }
}

/**
 * Appends a query string.
 *
 * @example
 * withQuery('/api/v1/pods', { limit: 500, labelSelector: 'app=web' }) // '/api/v1/pods?limit=500&labelSelector=app%3Dweb'
 */
export function withQuery(path: string, query: Query): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === false || value === '') continue
    parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  }
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

function groupRoot(resource: Resource): string {
  return `/apis/${segment(resource.group, 'group')}/${segment(resource.version, 'version')}`
}

function subresourceSegment(value: string): string {
  return segment(value, 'subresource')
}

// Kubernetes accepts no name that contains "/" or "%" or is "." or "..", and a proxy might resolve such a segment to a
// different object.
function segment(value: string, field: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value) || !value.isWellFormed()) {
    throw new InvalidRequestError(`${field} ${JSON.stringify(value)} is not a valid path segment name`)
  }
  return encodeURIComponent(value)
}
