/** The chart grants what the operator needs, as far as that follows from its definition. */
import type { PolicyRule, UnknownObject } from '@reeve/kube'
import { missingRights, type RbacOptions } from '@reeve/runtime/operator'
import { describe, expect, it } from 'vitest'
import { webAppOperator } from '../src/index.ts'
import { helmPath, render } from './support/chart.ts'

const webhook = { secret: 'webapp-operator-certificate', configurations: ['webapp-operator'] }

const FORMS: Readonly<Record<string, { readonly values: object; readonly options: RbacOptions }>> = {
  'in all namespaces': { values: {}, options: { webhook, upgradesCrds: true } },
  'in single namespaces, its own among them': {
    values: { watchNamespaces: ['shop', 'webapp'] },
    options: { webhook, upgradesCrds: true, namespaces: ['shop', 'webapp'] },
  },
  'in single namespaces, without webhooks and upgrades of its CRD': {
    values: { watchNamespaces: ['shop'], webhook: { enabled: false }, crds: { upgrade: false } },
    options: { namespaces: ['shop'] },
  },
  'with shards': { values: { shards: 8 }, options: { webhook, upgradesCrds: true, isSharded: true } },
  'with protected metrics, and a certificate from a Secret': {
    values: { metrics: { protected: true }, webhook: { certificateSecretName: 'tls' } },
    options: { protectsMetrics: true, upgradesCrds: true },
  },
}

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  it.each(Object.entries(FORMS))(
    'grants every right that the operator needs %s, and no other',
    async (_, { values, options }) => {
      const { objects } = await render(values)
      const granted = rulesBound(objects)
      const { clusterRole, roles } = webAppOperator.rbac({ namespace: 'webapp', ...options })
      const needed = new Map([
        ['', clusterRole.rules ?? []],
        ...roles.map(({ metadata, rules = [] }) => [metadata.namespace ?? '', rules] as const),
      ])
      for (const namespace of new Set([...needed.keys(), ...granted.keys()])) {
        const wanted = needed.get(namespace) ?? []
        const given = granted.get(namespace) ?? []
        expect(missingRights(wanted, given), namespace).toEqual([])
        expect(missingRights(given, wanted), namespace).toEqual([])
      }
      // An empty one would only make a reader wonder.
      expect(granted.has('')).toBe((clusterRole.rules ?? []).length > 0)
    },
  )
})

/** The rules that are bound to the account of the operator, by namespace; in all namespaces under an empty name. */
function rulesBound(objects: readonly UnknownObject[]): ReadonlyMap<string, readonly PolicyRule[]> {
  const bound = new Map<string, readonly PolicyRule[]>()
  for (const { kind, metadata, roleRef, subjects } of objects) {
    if (kind !== 'RoleBinding' && kind !== 'ClusterRoleBinding') continue
    expect(subjects).toEqual([{ kind: 'ServiceAccount', name: 'webapp-operator', namespace: 'webapp' }])
    const { namespace = '' } = metadata
    const named = roleRef as { readonly kind: string; readonly name: string }
    const role = objects.find(
      (one) =>
        one.kind === named.kind && one.metadata.name === named.name && (one.metadata.namespace ?? '') === namespace,
    )
    bound.set(namespace, [...(bound.get(namespace) ?? []), ...((role?.rules ?? []) as readonly PolicyRule[])])
  }
  return bound
}
