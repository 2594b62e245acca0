/** The rights of what the operator rolls out, and values that make no sense. */
import type { UnknownObject } from '@reeve/kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { helmPath } from '../support/render-chart.ts'
import { find, rulesOf } from './support/find.ts'
import { renderWithoutCrds } from './support/render.ts'
import { grantedRights } from './support/used-rights.ts'

const OPENSHIFT = ['--api-versions', 'security.openshift.io/v1']
const READ = ['get', 'list', 'watch']
const render = (...values: string[]) => renderWithoutCrds(values)
const reading = (...resources: string[]) => READ.flatMap((verb) => resources.map((name) => `${verb} ${name}`)).sort()
const WORKLOADS = ['apps/deployments', 'apps/replicasets', 'apps/statefulsets', 'apps/daemonsets']
const constraintsIn = (objects: readonly UnknownObject[], kind: string, name: string) =>
  rulesOf(objects, kind, name).flatMap(({ resources = [], resourceNames = [] }) =>
    resources.includes('securitycontextconstraints') ? resourceNames : [],
  )

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  let all: readonly UnknownObject[]
  let openshift: readonly UnknownObject[]
  beforeAll(async () => {
    all = await render()
    openshift = await renderWithoutCrds([], OPENSHIFT)
  })

  it('lets gateways read the cluster through roles that can be aggregated', () => {
    const label = { 'rbac.dynatrace.com/aggregate-to-monitoring': 'true' }
    expect(find(all, 'ClusterRole', 'dynatrace-kubernetes-monitoring')).toMatchObject({
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] },
    })
    for (const name of ['dynatrace-kubernetes-monitoring-default', 'dynatrace-kubernetes-monitoring-kspm']) {
      expect(find(all, 'ClusterRole', name)?.metadata.labels).toMatchObject(label)
    }
    expect(grantedRights(all, 'ClusterRole', 'dynatrace-kubernetes-monitoring-default')).toEqual(
      reading(
        ...['nodes', 'pods', 'namespaces', 'replicationcontrollers', 'events', 'resourcequotas', 'pods/proxy'],
        ...['nodes/proxy', 'nodes/metrics', 'services', 'persistentvolumeclaims', 'persistentvolumes'],
        ...['batch/jobs', 'batch/cronjobs', ...WORKLOADS],
        ...['apps.openshift.io/deploymentconfigs', 'config.openshift.io/clusterversions'],
        ...['dynatrace.com/dynakubes', 'dynatrace.com/edgeconnects', 'apiextensions.k8s.io/customresourcedefinitions'],
        ...['networking.k8s.io/ingresses', 'networking.k8s.io/networkpolicies', 'discovery.k8s.io/endpointslices'],
        'autoscaling/horizontalpodautoscalers',
      ),
    )
    expect(rulesOf(all, 'ClusterRole', 'dynatrace-kubernetes-monitoring-default')).toContainEqual({
      nonResourceURLs: ['/metrics', '/version', '/readyz', '/livez'],
      verbs: ['get'],
    })
    expect(grantedRights(all, 'ClusterRole', 'dynatrace-kubernetes-monitoring-kspm')).toEqual(
      reading(
        ...['namespaces', 'nodes', 'pods', 'replicationcontrollers', 'serviceaccounts', 'services'],
        ...['batch/cronjobs', 'batch/jobs', ...WORKLOADS, 'networking.k8s.io/networkpolicies'],
        ...['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'].map(
          (kind) => `rbac.authorization.k8s.io/${kind}`,
        ),
      ),
    )
  })

  it('lets the collector find what it scrapes and where telemetry comes from', () => {
    expect(grantedRights(all, 'ClusterRole', 'dynatrace-extensions-prometheus')).toEqual(
      reading('pods', 'namespaces', 'endpoints', 'services', 'nodes', 'nodes/metrics', ...WORKLOADS),
    )
    expect(grantedRights(all, 'ClusterRole', 'dynatrace-telemetry-ingest')).toEqual(
      reading('pods', 'namespaces', 'nodes', 'apps/replicasets'),
    )
  })

  it('gives everything else next to nothing', () => {
    expect(grantedRights(all, 'ClusterRole', 'dynatrace-logmonitoring')).toEqual([
      'get nodes/proxy',
      'use security.openshift.io/securitycontextconstraints',
    ])
    expect(grantedRights(all, 'Role', 'dynatrace-extension-controller-database')).toEqual(['list pods'])
    expect(grantedRights(all, 'Role', 'dynatrace-sql-ext-exec')).toEqual([])
    expect(grantedRights(all, 'Role', 'dynatrace-operator-supportability')).toEqual([
      'create pods/exec',
      'get batch/jobs',
      'get pods/exec',
      'get pods/log',
      'list apps/replicasets',
      'list batch/jobs',
      'list events',
    ])
    expect(grantedRights(all, 'Role', 'dynatrace-crd-storage-migration')).toEqual([
      'list dynatrace.com/dynakubes',
      'update dynatrace.com/dynakubes',
    ])
    expect(grantedRights(all, 'ClusterRole', 'dynatrace-crd-storage-migration')).toEqual([
      'get apiextensions.k8s.io/customresourcedefinitions',
      'update apiextensions.k8s.io/customresourcedefinitions/status',
    ])
  })

  it('never gives rights by a wildcard, and to Secrets of other namespaces only by name', () => {
    const roles = openshift.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
    for (const { kind, metadata } of roles) {
      for (const rule of rulesOf(openshift, kind, metadata.name ?? '')) {
        expect(JSON.stringify(rule)).not.toContain('*')
        const isOfSecrets = kind === 'ClusterRole' && rule.resources?.includes('secrets')
        // A creation has no name.
        if (isOfSecrets && rule.verbs.join() !== 'create') expect(rule.resourceNames).toHaveLength(4)
      }
    }
  })

  it('needs no right to nodes when they are not announced', async () => {
    const rights = grantedRights(
      await render('operator.hostAvailabilityDetection=false'),
      'ClusterRole',
      'dynatrace-operator',
    )
    expect(rights.filter((right) => right.endsWith(' nodes'))).toEqual([])
  })

  it.each([
    ['ClusterRole', 'dynatrace-operator', ['privileged', 'nonroot-v2']],
    ['ClusterRole', 'dynatrace-activegate', ['privileged', 'nonroot-v2']],
    ['ClusterRole', 'dynatrace-dynakube-oneagent', ['privileged']],
    ['ClusterRole', 'dynatrace-node-config-collector', ['privileged']],
    ['ClusterRole', 'dynatrace-edgeconnect', ['nonroot', 'nonroot-v2']],
    ['ClusterRole', 'dynatrace-extensions-prometheus', ['privileged']],
    ['ClusterRole', 'dynatrace-telemetry-ingest', ['privileged']],
    ['ClusterRole', 'dynatrace-crd-storage-migration', ['nonroot-v2']],
    ['ClusterRole', 'dynatrace-oneagent-csi-driver', ['privileged']],
    ['Role', 'dynatrace-extension-controller-prometheus', ['privileged']],
    ['Role', 'dynatrace-extension-controller-database', ['nonroot-v2']],
    ['Role', 'dynatrace-sql-ext-exec', ['nonroot-v2']],
  ])('lets pods of %s %s use constraints on OpenShift', (kind, name, constraints) => {
    expect(constraintsIn(openshift, kind, name)).toEqual(constraints)
  })

  it.each([
    ['dynatrace-activegate', false],
    ['dynatrace-node-config-collector', false],
    ['dynatrace-dynakube-oneagent', true],
    ['dynatrace-edgeconnect', undefined],
  ])('mounts the token of %s by default: %s', (name, automount) => {
    expect(find(all, 'ServiceAccount', name)?.automountServiceAccountToken).toBe(automount)
  })

  it('gives agents no token when they collect no logs', async () => {
    const account = find(
      await render('rbac.logMonitoring.create=false'),
      'ServiceAccount',
      'dynatrace-dynakube-oneagent',
    )
    expect(account?.automountServiceAccountToken).toBe(false)
  })

  it.each([
    ['activeGate', 'dynatrace-activegate'],
    ['edgeConnect', 'dynatrace-edgeconnect'],
    ['extensions', 'dynatrace-extension-controller'],
    ['extensions', 'dynatrace-otel-collector'],
    ['logMonitoring', 'dynatrace-logmonitoring'],
    ['oneAgent', 'dynatrace-dynakube-oneagent'],
    ['kspm', 'dynatrace-node-config-collector'],
  ])('annotates for rbac.%s the account %s', async (key, name) => {
    const objects = await render(`rbac.${key}.annotations.identity=cloud`)
    expect(find(objects, 'ServiceAccount', name)?.metadata.annotations).toEqual({ identity: 'cloud' })
  })

  it.each([
    ['an unknown key', 'webhook.port=8443', /'port' not allowed/],
    ['an unknown platform', 'platform=nomad', /platform/],
    ['a port beyond all ports', 'webhook.ports.server=70000', /webhook\/ports\/server/],
    ['a text for a switch', 'rbac.kspm.create=yes please', /rbac\/kspm\/create/],
    ['an invalid memory limit', 'operator.limits.memory=lots', /operator\/limits\/memory/],
    ['an election without time', 'operator.leaderElection.retryPeriodSeconds=0', /retryPeriodSeconds/],
  ])('refuses %s by naming it', async (_, value, message) => {
    await expect(render(value)).rejects.toThrow(message)
  })
})
