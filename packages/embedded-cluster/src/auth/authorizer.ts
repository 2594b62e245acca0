/** Authorization requests, decisions, and the error of a denied request. */

import type { UserInfo } from '../api/user.ts'
import { StatusError } from '../status-error.ts'

/** A request for a resource. */
export interface ResourceAccess {
  readonly user: UserInfo
  /** Such as `get`, `list`, `deletecollection`, `impersonate`. */
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string | undefined
  /** Absent or empty at the cluster scope, and for all namespaces. */
  readonly namespace?: string | undefined
  /** Absent or empty if the request is not for one object. */
  readonly name?: string | undefined
}

/** A request for a non-resource path, such as `/healthz`. */
export interface PathAccess {
  readonly user: UserInfo
  /** The HTTP method in lower case. */
  readonly verb: string
  readonly path: string
}

/** Any request to authorize. */
export type Access = ResourceAccess | PathAccess

/** A decision. */
export interface Decision {
  readonly allowed: boolean
  /** The reason; may be empty. */
  readonly reason: string
}

/** A rule for resources, as in RBAC and rules reviews. */
export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

/** A rule for paths. */
export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** All permissions of a user. */
export interface RuleList {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** Errors while collecting, such as a binding to a missing role. */
  readonly errors: readonly string[]
}

/** Decides on requests. */
export interface Authorizer {
  authorize(access: Access): Decision
  /** All permissions of `user` in `namespace` (and at the cluster scope). */
  rulesFor(user: UserInfo, namespace: string): RuleList
}

/** Allows everything: for tests and for clusters without access control. */
export const alwaysAllow: Authorizer = {
  authorize: () => ({ allowed: true, reason: '' }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    errors: [],
  }),
}

/** Whether `access` is for a resource, as opposed to a path. */
export function isResourceAccess(access: Access): access is ResourceAccess {
  return 'resource' in access
}

/**
 * The 403 for a denied request.
 *
 * @example
 * const decision = authorizer.authorize(access)
 * if (!decision.allowed) throw forbidden(access, decision.reason)
 */
export function forbidden(access: Access, reason = ''): StatusError {
  const explanation = `${describe(access)}${reason === '' ? '' : `: ${reason}`}`
  if (!isResourceAccess(access)) return new StatusError(403, 'Forbidden', `forbidden: ${explanation}`, {})
  const { group, resource } = access
  return forbiddenResource({ group, resource, name: access.name }, explanation)
}

/** A 403 for one resource or object with a custom explanation. */
function forbiddenResource(
  target: { readonly group: string; readonly resource: string; readonly name?: string | undefined },
  explanation: string,
): StatusError {
  const qualified = target.group === '' ? target.resource : `${target.resource}.${target.group}`
  const name = target.name ?? ''
  const subject = name === '' ? qualified : `${qualified} ${JSON.stringify(name)}`
  return new StatusError(403, 'Forbidden', `${subject} is forbidden: ${explanation}`, {
    ...(name === '' ? {} : { name }),
    ...(target.group === '' ? {} : { group: target.group }),
    kind: target.resource,
  })
}

function describe(access: Access): string {
  const who = JSON.stringify(access.user.username)
  if (!isResourceAccess(access)) return `User ${who} cannot ${access.verb} path ${JSON.stringify(access.path)}`
  const { subresource, namespace } = access
  const resource =
    subresource === undefined || subresource === '' ? access.resource : `${access.resource}/${subresource}`
  const scope =
    namespace === undefined || namespace === ''
      ? 'at the cluster scope'
      : `in the namespace ${JSON.stringify(namespace)}`
  return `User ${who} cannot ${access.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(access.group)} ${scope}`
}
