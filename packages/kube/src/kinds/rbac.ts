/** Roles and bindings. */
import type { KubeObject } from '../objects.ts'
import type { LabelSelector } from './label-selector.ts'

/** Verbs that are allowed on resources. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The role that a binding grants. */
export interface RoleRef {
  readonly apiGroup: string
  readonly kind: 'Role' | 'ClusterRole'
  readonly name: string
}

/** The subject of a binding. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

/** `rbac.authorization.k8s.io/v1` Role. */
export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[]
}

/** `rbac.authorization.k8s.io/v1` ClusterRole. */
export interface ClusterRole extends KubeObject {
  readonly rules?: readonly PolicyRule[]
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] }
}

/** `rbac.authorization.k8s.io/v1` RoleBinding. */
export interface RoleBinding extends KubeObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[]
}

/** `rbac.authorization.k8s.io/v1` ClusterRoleBinding. */
export interface ClusterRoleBinding extends KubeObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[]
}
