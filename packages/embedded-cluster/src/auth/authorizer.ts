/** The question "may this user do that", its answer, and the refusal as the API words it. */
import { StatusError } from '../status-error.ts'
import type { UserInfo } from './user.ts'

/** An attempt on a resource. */
export interface ResourceAccess {
  readonly user: UserInfo
  /** Such as `get`, `list`, `deletecollection`, `impersonate`. */
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string | undefined
  /** Absent or empty at the cluster scope, and for all namespaces. */
  readonly namespace?: string | undefined
  /** Absent or empty where the request names no object. */
  readonly name?: string | undefined
}

/** An attempt on a path that is no resource, such as `/healthz`. */
export interface PathAccess {
  readonly user: UserInfo
  /** The HTTP method in lower case. */
  readonly verb: string
  readonly path: string
}

/** Anything somebody may attempt. */
export type Access = ResourceAccess | PathAccess

/** Yes or no. */
export interface Decision {
  readonly allowed: boolean
  /** Why; empty when there is nothing to say. */
  readonly reason: string
}

/** A rule on resources, as RBAC and rules reviews write it. */
export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

/** A rule on paths. */
export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** Everything somebody may do. */
export interface RuleList {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** Problems met while collecting, such as a binding to a missing role. */
  readonly errors: readonly string[]
}

/** Decides on attempts. */
export interface Authorizer {
  authorize(access: Access): Decision
  /** Everything `user` may do in `namespace` (and at the cluster scope). */
  rulesFor(user: UserInfo, namespace: string): RuleList
}

/** Lets everybody do everything: for tests and for clusters without access control. */
export const alwaysAllow: Authorizer = {
  authorize: () => ({ allowed: true, reason: '' }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    errors: [],
  }),
}

/** Whether `access` is about a resource, as opposed to a path. */
export function isResourceAccess(access: Access): access is ResourceAccess {
  return 'resource' in access
}

/**
 * The refusal of `access` as a 403.
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

/** A 403 on one resource or object with a free explanation. */
export function forbiddenResource(
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
