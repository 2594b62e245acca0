/** Which objects the chart renders, and how they hang together. */
import type { UnknownObject } from '@reeve/kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { helmPath } from '../support/render-chart.ts'
import { find, namesOf } from './support/find.ts'
import { NAMESPACE, renderWithoutCrds } from './support/render.ts'

const OPENSHIFT = ['--api-versions', 'security.openshift.io/v1']
const render = (...values: string[]) => renderWithoutCrds(values)
const labelsOf = ({ metadata }: UnknownObject) => metadata.labels ?? {}
const isHook = ({ metadata }: UnknownObject) => metadata.annotations?.['helm.sh/hook'] !== undefined

/** A set of rights: roles, bindings, and the account where it is called the same. */
const rights = (name: string, ...kinds: readonly string[]) => kinds.map((kind) => `${kind} ${name}`)
const ROLE = ['Role', 'RoleBinding']
const CLUSTER_ROLE = ['ClusterRole', 'ClusterRoleBinding']

/** Without the CRDs, the webhook and the CSI driver, which have their own tests. */
const BY_DEFAULT = [
  ...rights('dynatrace-operator', 'Deployment', 'ServiceAccount', ...ROLE, ...CLUSTER_ROLE),
  ...rights('dynatrace-operator-supportability', ...ROLE),
  ...rights('dynatrace-crd-storage-migration', 'ServiceAccount', ...ROLE, ...CLUSTER_ROLE),
  'Job dynatrace-operator-crd-storage-migration',
  'ServiceAccount dynatrace-activegate',
  ...rights('dynatrace-kubernetes-monitoring', ...CLUSTER_ROLE),
  'ClusterRole dynatrace-kubernetes-monitoring-default',
  'ClusterRole dynatrace-kubernetes-monitoring-kspm',
  'ServiceAccount dynatrace-node-config-collector',
  'ServiceAccount dynatrace-dynakube-oneagent',
  ...rights('dynatrace-logmonitoring', 'ServiceAccount', ...CLUSTER_ROLE),
  'ClusterRoleBinding dynatrace-logmonitoring-fullstack',
  'ServiceAccount dynatrace-edgeconnect',
  'ServiceAccount dynatrace-extension-controller',
  ...rights('dynatrace-extension-controller-database', ...ROLE),
  ...rights('dynatrace-sql-ext-exec', 'ServiceAccount', ...ROLE),
  ...rights('dynatrace-extensions-prometheus', ...CLUSTER_ROLE),
  'ServiceAccount dynatrace-otel-collector',
  ...rights('dynatrace-telemetry-ingest', ...CLUSTER_ROLE),
].sort()

/** What OpenShift needs in addition. */
const ON_OPENSHIFT = [
  ...rights('dynatrace-activegate', ...CLUSTER_ROLE),
  ...rights('dynatrace-dynakube-oneagent', ...CLUSTER_ROLE),
  ...rights('dynatrace-node-config-collector', ...CLUSTER_ROLE),
  ...rights('dynatrace-edgeconnect', ...CLUSTER_ROLE),
  ...rights('dynatrace-extension-controller-prometheus', ...ROLE),
].sort()

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  let all: readonly UnknownObject[]
  beforeAll(async () => {
    all = await render()
  })
  const TESTED_ELSEWHERE: readonly (string | undefined)[] = ['webhook', 'csi-driver']
  const ofRest = (objects: readonly UnknownObject[]) =>
    namesOf(objects.filter((object) => !TESTED_ELSEWHERE.includes(labelsOf(object)['app.kubernetes.io/component'])))
  /** What is rendered no more with these values. */
  const missing = async (...values: string[]) => {
    const rendered = ofRest(await render(...values))
    return ofRest(all).filter((name) => !rendered.includes(name))
  }

  it('renders the operator, the migration and the accounts of all that is rolled out', () => {
    expect(ofRest(all)).toEqual(BY_DEFAULT)
    expect(all.filter(isHook)).toHaveLength(6)
  })

  it.each([
    ['by default', [], 57],
    ['without the CSI driver', ['csidriver.enabled=false'], 49],
    ['on OpenShift', ['platform=openshift'], 67],
    ['by OLM', ['olm=true'], 67],
  ])('has the number of objects that an installation is known to have, %s', async (_, values, count) => {
    // Two of them are CRDs, which are rendered by another test. The policy for the webhook and its binding are new.
    const known = (await render(...values)).filter(({ kind }) => !kind.startsWith('ValidatingAdmissionPolicy'))
    expect(known).toHaveLength(count - 2)
  })

  it('has ten more objects on OpenShift, and by OLM on any platform', async () => {
    const openshift = await renderWithoutCrds([], OPENSHIFT)
    expect(ofRest(openshift).filter((name) => !BY_DEFAULT.includes(name))).toEqual(ON_OPENSHIFT)
    expect(ofRest(await render('olm=true'))).toEqual(ofRest(openshift))
  })

  it('says SecurityContextConstraints only for logs off OpenShift', () => {
    const naming = all.filter((object) => JSON.stringify(object).includes('securitycontextconstraints'))
    expect(namesOf(naming)).toEqual(['ClusterRole dynatrace-logmonitoring'])
  })

  it('labels everything with name, version, chart and component', () => {
    for (const object of all) {
      expect(labelsOf(object)).toMatchObject({
        'app.kubernetes.io/name': 'dynatrace-operator',
        'app.kubernetes.io/version': '0.1.0',
        'app.kubernetes.io/managed-by': 'Helm',
        'helm.sh/chart': 'dynatrace-operator-0.1.0',
      })
      expect(labelsOf(object)).toHaveProperty(['app.kubernetes.io/component'])
    }
  })

  it('says nothing of Helm in plain manifests', async () => {
    for (const object of await render('manifests=true')) {
      expect(Object.keys(labelsOf(object))).not.toContain('helm.sh/chart')
      expect(Object.keys(labelsOf(object))).not.toContain('app.kubernetes.io/managed-by')
    }
  })

  it.each([
    ['installed by helm', [], 'helm'],
    ['as manifests', ['manifests=true'], 'manifest'],
    ['by OLM', ['olm=true', 'manifests=true', 'platform=any'], 'operatorhub'],
    ['on OpenShift', ['platform=openshift'], 'helm'],
    ['from a marketplace', ['platform=azure-marketplace'], 'azure-marketplace'],
  ])('is labelled with its source, %s', async (_, values, source) => {
    const azure = ['registry=r', 'image=i', 'digest=sha256:0'].map((value) => `global.azure.images.operator.${value}`)
    const operator = find(await render(...values, ...azure), 'Deployment', 'dynatrace-operator')
    expect(operator?.metadata.labels).toMatchObject({ 'dynatrace.com/install-source': source })
  })

  it('binds roles that exist to accounts that exist, in the namespace of the release', async () => {
    const objects = await renderWithoutCrds([], OPENSHIFT)
    const names = namesOf(objects)
    const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding'))
    expect(bindings).toHaveLength(21)
    for (const binding of bindings) {
      const { roleRef, subjects } = binding as unknown as {
        readonly roleRef: { readonly kind: string; readonly name: string }
        readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[]
      }
      expect(names).toContain(`${roleRef.kind} ${roleRef.name}`)
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: expect.any(String), namespace: NAMESPACE }])
      expect(names).toContain(`ServiceAccount ${subjects[0]?.name}`)
    }
  })

  it.each([
    ['dynatrace-operator-supportability', 'Role', 'dynatrace-operator'],
    ['dynatrace-kubernetes-monitoring', 'ClusterRole', 'dynatrace-activegate'],
    ['dynatrace-logmonitoring-fullstack', 'ClusterRole', 'dynatrace-dynakube-oneagent'],
    ['dynatrace-extension-controller-database', 'Role', 'dynatrace-extension-controller'],
    ['dynatrace-extensions-prometheus', 'ClusterRole', 'dynatrace-otel-collector'],
    ['dynatrace-telemetry-ingest', 'ClusterRole', 'dynatrace-otel-collector'],
  ])('binds %s to another account', (name, kind, account) => {
    expect(find(all, `${kind}Binding`, name)?.subjects).toMatchObject([{ name: account }])
  })

  it.each([
    ['rbac.supportability=false', rights('dynatrace-operator-supportability', ...ROLE)],
    [
      'rbac.oneAgent.create=false',
      ['ClusterRoleBinding dynatrace-logmonitoring-fullstack', 'ServiceAccount dynatrace-dynakube-oneagent'],
    ],
    ['rbac.edgeConnect.create=false', ['ServiceAccount dynatrace-edgeconnect']],
    ['rbac.telemetryIngest.create=false', rights('dynatrace-telemetry-ingest', ...CLUSTER_ROLE)],
    [
      'rbac.logMonitoring.create=false',
      [
        ...rights('dynatrace-logmonitoring', 'ClusterRole', 'ClusterRoleBinding'),
        'ClusterRoleBinding dynatrace-logmonitoring-fullstack',
        'ServiceAccount dynatrace-logmonitoring',
      ],
    ],
    [
      'rbac.kspm.create=false',
      ['ClusterRole dynatrace-kubernetes-monitoring-kspm', 'ServiceAccount dynatrace-node-config-collector'],
    ],
    ['rbac.extensions.prometheus.create=false', rights('dynatrace-extensions-prometheus', ...CLUSTER_ROLE)],
    [
      'rbac.extensions.database.create=false',
      [
        ...rights('dynatrace-extension-controller-database', ...ROLE),
        ...rights('dynatrace-sql-ext-exec', 'ServiceAccount', ...ROLE),
      ],
    ],
    [
      'crdStorageMigrationJob=false',
      [
        ...rights('dynatrace-crd-storage-migration', 'ServiceAccount', ...ROLE, ...CLUSTER_ROLE),
        'Job dynatrace-operator-crd-storage-migration',
      ],
    ],
  ])('omits unneeded objects with %s', async (value, names) => {
    expect(await missing(value)).toEqual([...names].sort())
  })

  it('keeps the account of the collector as long as it is needed', async () => {
    const none = ['rbac.extensions.create=false', 'rbac.telemetryIngest.create=false']
    expect(await missing(...none)).toContain('ServiceAccount dynatrace-otel-collector')
    expect(await missing('rbac.extensions.create=false')).not.toContain('ServiceAccount dynatrace-otel-collector')
  })

  it('runs the migration before an upgrade only, with rights for nothing else', () => {
    for (const object of all.filter(isHook)) {
      expect(object.metadata.annotations).toEqual({
        'helm.sh/hook': 'pre-upgrade',
        'helm.sh/hook-weight': '-5',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      })
    }
  })

  it('requests GKE Autopilot to allow its workloads, of this release', async () => {
    const flags = ['--api-versions', 'auto.gke.io/v1/AllowlistSynchronizer']
    const objects = await renderWithoutCrds([], flags)
    expect(find(objects, 'AllowlistSynchronizer', 'dynatrace-operator')?.spec).toEqual({
      allowlistPaths: ['csidriver', 'logmonitoring', 'csijob'].map((name) => `Dynatrace/${name}/0.1.0/*`),
    })
    expect(find(all, 'AllowlistSynchronizer', 'dynatrace-operator')).toBeUndefined()
  })

  it('shows itself in the Google marketplace only', async () => {
    const objects = await render('platform=google-marketplace')
    expect(objects.filter(({ kind }) => kind === 'Application')).toHaveLength(1)
    expect(all.filter(({ kind }) => kind === 'Application')).toHaveLength(0)
  })
})
