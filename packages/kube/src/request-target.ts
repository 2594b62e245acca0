/** Describes a request in a form that is safe to show: no query, no headers, no body. */

import type { Resource } from './resource.ts'

/** Verbs as in RBAC and audit logs, with `apply` separate from `patch` because its errors are different. */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply'
  | 'delete'
  | 'deletecollection'
  | 'raw'

/** The verb, the resource and the object of a request. Errors, hooks and logs contain it instead of the request. */
export interface RequestTarget {
  readonly verb: Verb
  /** API group; empty for the core group; absent for raw requests. */
  readonly group?: string
  readonly version?: string
  /** Plural name such as `deployments`; absent for raw requests. */
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** Method and path without the query; only for raw requests. */
  readonly path?: string
}

/**
 * A one-line description.
 *
 * @example
 * describeTarget({ verb: 'update', group: 'apps', resource: 'deployments', subresource: 'status', namespace: 'shop', name: 'web' })
 * // 'update deployments.apps/status "shop/web"'
 */
export function describeTarget(target: RequestTarget): string {
  if (target.resource === undefined) return target.path ?? target.verb
  const group = target.group ? `.${target.group}` : ''
  const subresource = target.subresource ? `/${target.subresource}` : ''
  const what = `${target.verb} ${target.resource}${group}${subresource}`
  if (target.name !== undefined) {
    return `${what} "${target.namespace === undefined ? '' : `${target.namespace}/`}${target.name}"`
  }
  return target.namespace === undefined ? what : `${what} in namespace "${target.namespace}"`
}

/** The target of a request about one object, or about a collection. */
export function describeObject(
  verb: Verb,
  resource: Resource,
  key: { readonly namespace?: string | undefined; readonly name?: string | undefined },
  subresource?: string,
): RequestTarget {
  return {
    verb,
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    ...(subresource !== undefined && { subresource }),
    ...(key.namespace && { namespace: key.namespace }),
    ...(key.name && { name: key.name }),
  }
}
