/** The chart: what it installs is valid, and the operator needs no right beyond those it gives. */
import { randomBytes } from 'node:crypto'
import { chartExpressions, exposedNames, metricNames } from '@reeve/client-binaries'
import { accountToken, type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { crdManifest } from '@reeve/crd'
import {
  ClusterRoleBindings,
  CustomResourceDefinitions,
  connect,
  Deployments,
  type DiscoveringClient,
  Events,
  ServiceAccounts,
  type UnknownObject,
} from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebAppCrd, WebApps } from '../src/index.ts'
import { written } from '../src/testing/webapp.ts'
import { helmPath, render } from './support/chart.ts'
import { type InstalledOperator, startInstalled, until } from './support/installed-operator.ts'

const run = randomBytes(3).toString('hex')
/** No cluster here has the custom resources of the Prometheus operator. */
const MONITORING = { protected: true, dashboard: true }

let cluster: ClusterUnderTest
let admin: DiscoveringClient
let namespace: string

beforeAll(async () => {
  cluster = await openCluster()
  admin = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'chart-test' })
  namespace = await cluster.createNamespace()
  await admin.apply(CustomResourceDefinitions, crdManifest(WebAppCrd), { force: true })
})
afterAll(async () => {
  await admin.close()
  await cluster.close()
})

async function apply(object: UnknownObject, dryRun: boolean): Promise<void> {
  const resource = await admin.resourceFor(object)
  await admin.apply(resource, object, { dryRun, force: true, fieldValidation: 'Strict' })
  if (dryRun || resource.namespaced) return
  cluster.removeAtClose(`/apis/${object.apiVersion}/${resource.plural}/${object.metadata.name}`)
}

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  it.each([
    ['with defaults', {}],
    ['without webhooks', { webhook: { enabled: false } }],
    [
      'with a certificate of cert-manager and a network policy',
      {
        webhook: { certificateSecretName: 'tls' },
        networkPolicy: { enabled: true, metricsFrom: [{ podSelector: {} }], apiServerTo: [{ podSelector: {} }] },
      },
    ],
    ['for a few namespaces', { watchNamespaces: ['default', 'kube-public'], replicas: 1, metrics: MONITORING }],
  ])('renders objects that the API server accepts %s', async (_, values) => {
    const { objects } = await render(values, { name: `webapp-${run}`, namespace })
    expect(objects.length).toBeGreaterThan(5)
    for (const object of objects) await apply(object, true)
  })

  it.each([
    ['in all namespaces', 'all', false],
    ['in single namespaces', 'few', true],
  ])(
    'gives the operator all the rights it uses %s: with webhooks, metrics and console it runs a WebApp without one refusal',
    async (_, form, isLimited) => {
      const own = await cluster.createNamespace()
      const name = `webapp-${form}-${run}`
      const values = {
        metrics: MONITORING,
        console: { enabled: true },
        ...(isLimited && { watchNamespaces: [namespace] }),
      }
      const { objects } = await render(values, { name, namespace: own })
      for (const object of objects) await apply(isLimited ? object : onlyIn(namespace, object), false)
      await using operator = await startInstalled(cluster, admin, { namespace: own, name })
      await runWebApp(form)
      await expectMetrics(operator, own, name)
      await expectConsole(operator, own, name)
      expect(operator.refusals).toEqual([])
    },
  )
})

/** Other suites use the same cluster: their WebApps must not come to the webhooks of this one. */
function onlyIn(name: string, object: UnknownObject): UnknownObject {
  if (!object.kind.endsWith('WebhookConfiguration')) return object
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': name } }
  return { ...object, webhooks: (object.webhooks as readonly object[]).map((one) => ({ ...one, namespaceSelector })) }
}

async function runWebApp(name: string): Promise<void> {
  const key = { namespace, name }
  const attempt = () =>
    admin.create(WebApps, written('refused', { image: 'no-tag' }, { namespace }), { dryRun: true }).then(
      () => '',
      (error: unknown) => String(error),
    )
  await until(async () => (await attempt()).includes('spec.image'))
  await admin.create(WebApps, written(name, { ingress: { host: `${name}.example.com` } }, key))
  const phase = async () => (await admin.get(WebApps, key)).status?.phase
  await until(async () => (await phase()) === 'Ready')
  await admin.patch(WebApps, key, { type: 'merge', patch: { spec: { image: 'nginx:2', ingress: null } } })
  const image = async () => (await admin.get(Deployments, key)).spec?.template.spec?.containers[0]?.image
  await until(async () => (await image()) === 'nginx:2' && (await phase()) === 'Ready')
  await until(async () => {
    const { items } = await admin.listAll(Events, { namespace })
    return items.some(({ reason, involvedObject }) => reason === 'Ready' && involvedObject.name === name)
  })
}

/** Creates an account, bound to a role if one is given, and returns its token. */
async function accountWith(account: { namespace: string; name: string }, role?: string): Promise<string> {
  await admin.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account })
  if (role !== undefined) {
    const apiGroup = 'rbac.authorization.k8s.io'
    await admin.create(ClusterRoleBindings, {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    })
    cluster.removeAtClose(`/apis/${apiGroup}/v1/clusterrolebindings/${role}`)
  }
  return accountToken(cluster, account.namespace, account.name)
}

/** Only an account with the role of the chart can open the console. */
async function expectConsole(operator: InstalledOperator, own: string, name: string): Promise<void> {
  const viewer = await accountWith({ namespace: own, name: 'viewer' }, `${name}-console-reader`)
  const stranger = await accountWith({ namespace: own, name: 'stranger' })
  // A real API server learns of rights a moment after they are granted.
  await until(async () => (await operator.openConsole(viewer)).status === 200)
  expect((await operator.openConsole(viewer)).body).toContain('webapp-operator')
  const refused = await operator.openConsole(stranger)
  expect([refused.status, refused.body]).toEqual([
    403,
    expect.stringContaining('--clusterrole=<release>-console-reader'),
  ])
  const unknown = await operator.openConsole('nonsense')
  expect([unknown.status, unknown.body]).toEqual([401, expect.stringContaining('kubectl create token')])
}

/** An account with the role of the chart can read metrics, and they have everything that alerts and dashboard use. */
async function expectMetrics(operator: InstalledOperator, own: string, name: string): Promise<void> {
  const token = await accountWith({ namespace: own, name: 'prometheus' }, `${name}-metrics-reader`)
  // A real API server learns of rights a moment after they are granted.
  await until(async () => (await operator.scrape(token)).status === 200)
  const { body } = await operator.scrape(token)
  const { objects } = await render({ metrics: { serviceMonitor: true, alerts: true, dashboard: true } })
  const expressions = chartExpressions(objects)
  expect(expressions.length).toBeGreaterThan(10)
  const used = expressions.flatMap(({ expression }) => metricNames(expression))
  const exposed = exposedNames(body)
  expect(used.filter((metric) => !exposed.has(metric))).toEqual([])
}
