/** Permissions of a ClusterServiceVersion, derived from the roles and bindings of the chart. */
import type { UnknownObject } from '@reeve/kube'

/** A rule of a role; what is in it does not matter here. */
type Rule = Readonly<Record<string, unknown>>

/** What OLM grants an account. */
export interface Permissions {
  readonly serviceAccountName: string
  readonly rules: readonly Rule[]
}

interface Role extends UnknownObject {
  readonly rules?: readonly Rule[]
  readonly aggregationRule?: {
    readonly clusterRoleSelectors: readonly { readonly matchLabels: Readonly<Record<string, string>> }[]
  }
}

interface Binding extends UnknownObject {
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects: readonly { readonly kind: string; readonly name: string }[]
}

/**
 * The permissions of every account that a role is bound to, from bindings of this kind.
 *
 * OLM knows no aggregated roles, so their rules are those of the roles that they collect here.
 */
export function permissionsFrom(
  objects: readonly UnknownObject[],
  kind: 'RoleBinding' | 'ClusterRoleBinding',
): readonly Permissions[] {
  // The chart renders roles and bindings in this form.
  const bindings = objects.filter((object) => object.kind === kind) as unknown as readonly Binding[]
  const rules = new Map<string, Rule[]>()
  for (const { roleRef, subjects } of bindings) {
    const granted = rulesOf(objects, roleRef)
    for (const { name } of subjects) rules.set(name, [...(rules.get(name) ?? []), ...granted])
  }
  return [...rules].map(([serviceAccountName, granted]) => ({ serviceAccountName, rules: granted }))
}

function rulesOf(objects: readonly UnknownObject[], { kind, name }: Binding['roleRef']): readonly Rule[] {
  const roles = objects.filter((object) => object.kind === kind) as readonly Role[]
  const role = roles.find(({ metadata }) => metadata.name === name)
  const selectors = role?.aggregationRule?.clusterRoleSelectors
  if (selectors === undefined) return role?.rules ?? []
  const collected = roles.filter(({ metadata }) =>
    selectors.some(({ matchLabels }) =>
      Object.entries(matchLabels).every(([label, value]) => metadata.labels?.[label] === value),
    ),
  )
  return collected.flatMap(({ rules = [] }) => rules)
}
