/** The chart grants what the operator needs with its settings, as far as that follows from its definition. */
import { runCaptured } from '@reeve/cli/testing'
import type { PolicyRule, UnknownObject } from '@reeve/kube'
import { missingRights } from '@reeve/runtime/operator'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { main } from '../src/cli/main.ts'
import { type CollectorSettings, collectorRbac } from '../src/index.ts'
import { helmPath, render } from './support/chart.ts'

const NAMESPACE = 'collectors'
const WEBHOOK = { secret: 'collector-operator-certificate', configurations: ['collector-operator'] }

const repository = (credentials?: { namespace: string; name: string }) => ({
  type: 'repository',
  location: 'https://charts.example.com',
  ...(credentials && { credentials }),
})
const SETTINGS: Readonly<Record<string, CollectorSettings>> = {
  'no settings': { clusters: {} },
  'several accounts': { clusters: {}, serviceAccounts: ['second', 'third'] },
  'any account': { clusters: {}, serviceAccounts: ['*'] },
  'accounts of created namespaces': { clusters: {}, createdNamespaces: { clusterRole: 'tenant' } },
  'credentials of chart sources': {
    clusters: {
      a: repository({ namespace: 'platform', name: 'one' }),
      b: repository({ namespace: 'platform', name: 'two' }),
      c: repository({ namespace: NAMESPACE, name: 'three' }),
      d: repository(),
    },
  },
}

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  /** The same for one namespace of Collectors, and with protected metrics. */
  const limited = { namespaces: ['shop'], protectsMetrics: true }
  const forms = [
    ...Object.entries(SETTINGS).map(([name, settings]) => ({ name, settings, values: {}, options: {} })),
    {
      name: 'a CRD that something else upgrades',
      settings: { clusters: {} },
      values: { crds: { upgrade: false } },
      options: { upgradesCrds: false },
    },
    {
      name: 'Collectors of one namespace',
      settings: { clusters: {} },
      values: { watchNamespace: 'shop', metrics: { protected: true } },
      options: limited,
    },
    { name: 'shards', settings: { clusters: {} }, values: { shards: 8 }, options: { isSharded: true } },
  ]

  it.each(forms)(
    'grants every right that the operator needs with $name, and no other',
    async ({ settings, values, options }) => {
      const { objects } = await render({ settings, ...values })
      const granted = (kind: string, where: (object: UnknownObject) => boolean) =>
        objects.filter((object) => object.kind === kind && where(object)).flatMap(({ rules }) => rules as PolicyRule[])
      const { clusterRole, roles } = collectorRbac(settings, {
        namespace: NAMESPACE,
        webhook: WEBHOOK,
        upgradesCrds: true,
        ...options,
      })
      // The chart grants no right on webhooks that it does not have.
      const needed = (clusterRole.rules ?? []).filter(
        ({ resources }) => !resources?.includes('mutatingwebhookconfigurations'),
      )
      const everywhere = granted('ClusterRole', ({ metadata }) => metadata.name === 'collector-operator')
      expect(missingRights(needed, everywhere)).toEqual([])
      expect(missingRights(everywhere, clusterRole.rules ?? [])).toEqual([])
      const bound = objects.filter(({ kind }) => kind === 'RoleBinding').map(({ metadata }) => metadata.namespace)
      expect([...new Set(bound)].toSorted()).toEqual(roles.map(({ metadata }) => metadata.namespace).toSorted())
      for (const { metadata, rules = [] } of roles) {
        const there = granted('Role', (role) => role.metadata.namespace === metadata.namespace)
        expect(missingRights(rules, there)).toEqual([])
        expect(missingRights(there, rules)).toEqual([])
      }
    },
  )

  it('grants no right to read Secrets or workloads in all namespaces', async () => {
    const { objects } = await render()
    const role = objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'collector-operator')
    const reach = ((role?.rules ?? []) as PolicyRule[]).flatMap(({ resources = [] }) => resources)
    expect(reach.toSorted()).toEqual([
      'collectors',
      'collectors/status',
      'customresourcedefinitions',
      'events',
      'namespaces',
      'serviceaccounts',
      'validatingwebhookconfigurations',
    ])
  })
})

it('the command rbac prints the roles for its settings', async () => {
  const { code, stdout } = await runCaptured(main, ['rbac', '--namespace', NAMESPACE])
  expect(code).toBe(0)
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as UnknownObject)
  const [clusterRole, role] = ['ClusterRole', 'Role'].map((kind) => objects.find((one) => one.kind === kind))
  expect(clusterRole).toEqual(
    JSON.parse(JSON.stringify(collectorRbac({ clusters: {} }, { namespace: NAMESPACE }).clusterRole)),
  )
  expect(role?.metadata.namespace).toBe(NAMESPACE)
})
