/** Prevents users from granting, by a role or a binding, more permissions than they have. */
import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden, notFound } from '../api/api-errors.ts'
import { MASTERS_GROUP, type UserInfo } from '../api/user.ts'
import { type JsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import { includes, matchesPath, matchesResource, type PolicyRule, readRules } from './policy-rules.ts'
import type { RbacAuthorizer } from './rbac.ts'

const GROUP = 'rbac.authorization.k8s.io'

/**
 * The plug-in that checks writes of roles and bindings. Users with the verb `escalate` on roles, or `bind` on the role,
 * are exempt; so are members of `system:masters`.
 */
export function createEscalationCheck(authorizer: RbacAuthorizer): AdmissionPlugin {
  return {
    name: 'RbacEscalation',
    validate: (attributes) => {
      const { resource, operation, object, user } = attributes
      if (resource.group !== GROUP || object === undefined || operation === 'DELETE') return
      if (user.groups.includes(MASTERS_GROUP)) return
      const isRole = resource.plural === 'roles' || resource.plural === 'clusterroles'
      const granted = isRole ? rulesOfRole(attributes, authorizer) : rulesOfBinding(attributes, authorizer)
      if (granted === undefined) return
      const held = authorizer.grantedRules(user, attributes.namespace ?? '')
      const missing = uncovered(granted, held)
      if (missing.length === 0) return
      const rules = mergeVerbs(missing).map(showRule).sort()
      throw forbidden(
        resource,
        attributes.name ?? '',
        `${who(user)} is attempting to grant RBAC permissions not currently held:\n${rules.join('\n')}`,
      )
    },
  }
}

/** The rules that a written role grants; `undefined` when nothing has to be checked. */
function rulesOfRole(attributes: AdmissionAttributes, authorizer: RbacAuthorizer): readonly PolicyRule[] | undefined {
  const { resource, object, oldObject, namespace, name, user } = attributes
  if (object === undefined || isOnlyReleased(object, oldObject)) return undefined
  const access = { user, verb: 'escalate', group: GROUP, resource: resource.plural, namespace, name }
  if (authorizer.authorize(access).allowed) return undefined
  const everything: PolicyRule[] = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
    { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
  ]
  // A user who selects roles by label could later select any role.
  return object.aggregationRule === undefined ? readRules(object) : everything
}

function rulesOfBinding(
  attributes: AdmissionAttributes,
  authorizer: RbacAuthorizer,
): readonly PolicyRule[] | undefined {
  const { resource, object, oldObject, namespace, user } = attributes
  if (object === undefined || isOnlyReleased(object, oldObject)) return undefined
  const roleRef = objectAt(object, 'roleRef')
  const kind = stringAt(roleRef, 'kind') ?? ''
  const name = stringAt(roleRef, 'name') ?? ''
  const roles = kind === 'ClusterRole' ? 'clusterroles' : 'roles'
  const bind = { user, verb: 'bind', group: GROUP, resource: roles, namespace, name }
  if (authorizer.authorize(bind).allowed) return undefined
  const rules = authorizer.rulesOf(kind, name, namespace)
  if (rules === undefined) throw notFound(resource, name)
  return rules
}

/**
 * Whether a write only changes owners and finalizers, as the garbage collector does. Any other change of a role, even
 * of a label, requires the same permissions as granting its rules.
 */
function isOnlyReleased(object: JsonObject, oldObject: JsonObject | undefined): boolean {
  return oldObject !== undefined && jsonEqual(withoutHolds(object), withoutHolds(oldObject))
}

function withoutHolds(object: JsonObject): JsonObject {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _fields,
    ...metadata
  } = objectAt(object, 'metadata')
  return { ...object, metadata }
}

/** The smallest rules of `granted` that no rule of `held` covers. */
function uncovered(granted: readonly PolicyRule[], held: readonly PolicyRule[]): PolicyRule[] {
  return granted.flatMap(pieces).filter((piece) => !held.some((rule) => covers(rule, piece)))
}

/** Splits a rule into rules for one verb on one resource. */
function pieces(rule: PolicyRule): PolicyRule[] {
  const names = rule.resourceNames.length === 0 ? [undefined] : rule.resourceNames
  const one = (verb: string, more: Partial<PolicyRule>): PolicyRule => ({
    verbs: [verb],
    apiGroups: [],
    resources: [],
    resourceNames: [],
    nonResourceURLs: [],
    ...more,
  })
  const onResources = rule.verbs.flatMap((verb) =>
    rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) =>
        names.map((name) =>
          one(verb, { apiGroups: [group], resources: [resource], resourceNames: name === undefined ? [] : [name] }),
        ),
      ),
    ),
  )
  const onPaths = rule.nonResourceURLs.flatMap((path) =>
    rule.verbs.map((verb) => one(verb, { nonResourceURLs: [path] })),
  )
  return [...onResources, ...onPaths]
}

function covers(rule: PolicyRule, piece: PolicyRule): boolean {
  const [verb = '', group = '', resource = '', path = ''] = [
    piece.verbs[0],
    piece.apiGroups[0],
    piece.resources[0],
    piece.nonResourceURLs[0],
  ]
  if (!includes(rule.verbs, verb)) return false
  if (path !== '') return rule.nonResourceURLs.some((pattern) => matchesPath(pattern, path))
  const [name = '', subresource = ''] = resource.split('/')
  if (!includes(rule.apiGroups, group) || !matchesResource(rule.resources, name, subresource)) return false
  if (rule.resourceNames.length === 0) return true
  const [wanted] = piece.resourceNames
  return wanted !== undefined && rule.resourceNames.includes(wanted)
}

/** Rules for the same resource are merged with all their verbs, in the API's format. */
function mergeVerbs(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const isMergeable = rule.nonResourceURLs.length === 0 && rule.resourceNames.length === 0
    const key = JSON.stringify(isMergeable ? [rule.apiGroups, rule.resources] : rule)
    const known = merged.get(key)
    merged.set(key, known === undefined ? rule : { ...known, verbs: [...known.verbs, ...rule.verbs] })
  }
  return [...merged.values()]
}

function showRule(rule: PolicyRule): string {
  const parts: string[] = []
  const add = (label: string, values: readonly string[]) => {
    if (values.length > 0) parts.push(`${label}:${list(values)}`)
  }
  add('APIGroups', rule.apiGroups)
  add('Resources', rule.resources)
  add('ResourceNames', rule.resourceNames)
  add('NonResourceURLs', rule.nonResourceURLs)
  add('Verbs', rule.verbs)
  return `{${parts.join(', ')}}`
}

function who(user: UserInfo): string {
  return `user ${JSON.stringify(user.username)} (groups=${list(user.groups)})`
}

function list(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`
}
