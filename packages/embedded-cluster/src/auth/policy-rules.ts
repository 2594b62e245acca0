/** RBAC policy rules: parsing and matching. */
import { arrayAt, isJsonObject, type JsonObject } from '../json.ts'
import { type Access, isResourceAccess, type PathAccess, type ResourceAccess } from './authorizer.ts'

/** One entry of a role's `rules`. It applies to resources or to paths; the lists of the other are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** The rules of a Role or ClusterRole. */
export function readRules(role: JsonObject): readonly PolicyRule[] {
  return arrayAt(role, 'rules').filter(isJsonObject).map(readRule)
}

function readRule(rule: JsonObject): PolicyRule {
  const list = (field: string) => arrayAt(rule, field).map(String)
  return {
    verbs: list('verbs'),
    apiGroups: list('apiGroups'),
    resources: list('resources'),
    resourceNames: list('resourceNames'),
    nonResourceURLs: list('nonResourceURLs'),
  }
}

/** Whether `rule` allows the request. */
export function allows(rule: PolicyRule, access: Access): boolean {
  if (!includes(rule.verbs, access.verb)) return false
  return isResourceAccess(access) ? allowsResource(rule, access) : allowsPath(rule, access)
}

function allowsResource(rule: PolicyRule, access: ResourceAccess): boolean {
  return (
    includes(rule.apiGroups, access.group) &&
    matchesResource(rule.resources, access.resource, access.subresource ?? '') &&
    // A rule with names never matches a request without an object name, such as list or create.
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(access.name ?? ''))
  )
}

function allowsPath(rule: PolicyRule, access: PathAccess): boolean {
  return rule.nonResourceURLs.some((pattern) => matchesPath(pattern, access.path))
}

/** Whether a list of names contains `value` or the wildcard. */
export function includes(patterns: readonly string[], value: string): boolean {
  return patterns.includes('*') || patterns.includes(value)
}

/** Whether one of `patterns` (`*`, `pods`, `pods/log`, `*\/scale`) matches the resource or subresource. */
export function matchesResource(patterns: readonly string[], resource: string, subresource: string): boolean {
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`
  return (
    patterns.includes('*') || patterns.includes(wanted) || (subresource !== '' && patterns.includes(`*/${subresource}`))
  )
}

/** Whether a pattern such as `/healthz` or `/api/*` matches `path`. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1))
}
