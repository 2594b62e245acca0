/** Role-based access control over the roles and bindings stored in the cluster. */

import type { ClusterApi } from '../api/cluster-api.ts'
import { MASTERS_GROUP, serviceAccountUsername, type UserInfo } from '../api/user.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { type Access, type Authorizer, type Decision, isResourceAccess, type RuleList } from './authorizer.ts'
import { allows, type PolicyRule, readRules } from './policy-rules.ts'

/** The resources of roles and bindings. */
export const RBAC_RESOURCES = {
  role: 'roles.rbac.authorization.k8s.io',
  clusterRole: 'clusterroles.rbac.authorization.k8s.io',
  roleBinding: 'rolebindings.rbac.authorization.k8s.io',
  clusterRoleBinding: 'clusterrolebindings.rbac.authorization.k8s.io',
} as const

/** A rule of a user, with the description of its origin. */
interface Grant {
  readonly rule: PolicyRule
  readonly origin: string
}

interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

interface Binding {
  /** Absent for cluster role bindings. */
  readonly namespace: string | undefined
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding'
  readonly name: string
  readonly subjects: readonly Subject[]
  readonly roleKind: string
  readonly roleName: string
}

/**
 * Decides by the bindings of a cluster. Members of `system:masters` are allowed everything.
 *
 * Bindings are cached until one of them changes; roles are read for each decision, so a decision is never older than
 * the last write.
 *
 * @example
 * const authorizer = new RbacAuthorizer(api)
 * authorizer.authorize({ user, verb: 'list', group: '', resource: 'pods', namespace: 'default' }).allowed
 */
export class RbacAuthorizer implements Authorizer {
  readonly #api: Pick<ClusterApi, 'get' | 'list' | 'subscribe'>
  readonly #unsubscribe: () => void
  #bindings: { readonly cluster: readonly Binding[]; readonly byNamespace: Map<string, Binding[]> } | undefined

  constructor(api: Pick<ClusterApi, 'get' | 'list' | 'subscribe'>) {
    this.#api = api
    this.#unsubscribe = api.subscribe(({ resource }) => {
      if (resource === RBAC_RESOURCES.roleBinding || resource === RBAC_RESOURCES.clusterRoleBinding) {
        this.#bindings = undefined
      }
    })
  }

  authorize(access: Access): Decision {
    if (access.user.groups.includes(MASTERS_GROUP)) return { allowed: true, reason: '' }
    const namespace = isResourceAccess(access) ? (access.namespace ?? '') : ''
    const errors: string[] = []
    for (const grant of this.#grants(access.user, namespace, errors)) {
      if (allows(grant.rule, access)) return { allowed: true, reason: `RBAC: allowed by ${grant.origin}` }
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` }
  }

  rulesFor(user: UserInfo, namespace: string): RuleList {
    const errors: string[] = []
    const rules = this.grantedRules(user, namespace, errors)
    return {
      resourceRules: rules.filter((rule) => rule.resources.length > 0),
      nonResourceRules: rules.filter((rule) => rule.nonResourceURLs.length > 0),
      errors,
    }
  }

  /** All rules of `user` in `namespace` (empty: at the cluster scope). */
  grantedRules(user: UserInfo, namespace: string, errors: string[] = []): readonly PolicyRule[] {
    return [...this.#grants(user, namespace, errors)].map((grant) => grant.rule)
  }

  /** The rules of the role of a binding; `undefined` when there is no such role. */
  rulesOf(roleKind: string, roleName: string, namespace: string | undefined): readonly PolicyRule[] | undefined {
    const isCluster = roleKind === 'ClusterRole'
    const resource = isCluster ? RBAC_RESOURCES.clusterRole : RBAC_RESOURCES.role
    const role = this.#api.get(resource, isCluster ? undefined : namespace, roleName)
    return role === undefined ? undefined : readRules(role)
  }

  /** Stops watching for changes. */
  close(): void {
    this.#unsubscribe()
  }

  *#grants(user: UserInfo, namespace: string, errors: string[]): Generator<Grant> {
    const { cluster, byNamespace } = this.#current()
    const local = namespace === '' ? [] : (byNamespace.get(namespace) ?? [])
    for (const binding of [...cluster, ...local]) {
      const subject = binding.subjects.find((candidate) => isSubject(candidate, user))
      if (subject === undefined) continue
      const rules = this.rulesOf(binding.roleKind, binding.roleName, binding.namespace)
      if (rules === undefined) {
        errors.push(`${binding.roleKind.toLowerCase()}.rbac.authorization.k8s.io "${binding.roleName}" not found`)
        continue
      }
      const origin = describe(binding, subject)
      for (const rule of rules) yield { rule, origin }
    }
  }

  #current() {
    if (this.#bindings !== undefined) return this.#bindings
    const cluster = this.#api
      .list(RBAC_RESOURCES.clusterRoleBinding)
      .map((binding) => readBinding(binding, 'ClusterRoleBinding'))
    const byNamespace = new Map<string, Binding[]>()
    for (const object of this.#api.list(RBAC_RESOURCES.roleBinding)) {
      const binding = readBinding(object, 'RoleBinding')
      const namespace = binding.namespace ?? ''
      const others = byNamespace.get(namespace)
      if (others === undefined) byNamespace.set(namespace, [binding])
      else others.push(binding)
    }
    this.#bindings = { cluster, byNamespace }
    return this.#bindings
  }
}

/** Several errors in one text, in the API's format. */
export function aggregate(errors: readonly string[]): string {
  const unique = [...new Set(errors)]
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`
}

function readBinding(object: JsonObject, kind: Binding['kind']): Binding {
  const metadata = objectAt(object, 'metadata')
  const namespace = kind === 'RoleBinding' ? (stringAt(metadata, 'namespace') ?? '') : undefined
  const roleRef = objectAt(object, 'roleRef')
  return {
    namespace,
    kind,
    name: stringAt(metadata, 'name') ?? '',
    subjects: arrayAt(object, 'subjects')
      .filter(isJsonObject)
      .map((subject) => ({
        kind: stringAt(subject, 'kind') ?? '',
        name: stringAt(subject, 'name') ?? '',
        namespace: stringAt(subject, 'namespace') ?? namespace ?? '',
      })),
    roleKind: stringAt(roleRef, 'kind') ?? '',
    roleName: stringAt(roleRef, 'name') ?? '',
  }
}

function isSubject(subject: Subject, user: UserInfo): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.username
    case 'Group':
      return user.groups.includes(subject.name)
    case 'ServiceAccount':
      return subject.namespace !== '' && serviceAccountUsername(subject.namespace, subject.name) === user.username
    default:
      return false
  }
}

function describe(binding: Binding, subject: Subject): string {
  const name = binding.namespace === undefined ? binding.name : `${binding.name}/${binding.namespace}`
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace}` : subject.name
  return `${binding.kind} ${JSON.stringify(name)} of ${binding.roleKind} ${JSON.stringify(binding.roleName)} to ${subject.kind} ${JSON.stringify(who)}`
}
