/** The chart of the operator on a cluster: its objects are valid, and its rights are sufficient. */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { chartExpressions, exposedNames, metricNames } from '@reeve/client-binaries'
import { manifestObjects } from '@reeve/helm'
import {
  type ClusterConfig,
  createClient,
  Deployments,
  isNotFound,
  loadConfig,
  Services,
  type UnknownObject,
} from '@reeve/kube'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Collectors, parseSettings } from '../src/index.ts'
import { collectorOf, configuration } from '../src/testing/collector.ts'
import { helmPath, type Stage, setStage } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

const CHART = fileURLToPath(new URL('../chart', import.meta.url))
const SETTINGS = { clusters: { production: { type: 'repository', location: 'https://charts.example.com' } } }
const POLICIES = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']
const RBAC = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', ...POLICIES])
const ROLE = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .Release.Name }}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`
const WEBHOOKS = 'ValidatingWebhookConfiguration'

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  let stage: Stage
  const run = randomBytes(3).toString('hex')
  const name = `collectors-${run}`

  beforeAll(async () => {
    stage = await setStage()
  })
  afterAll(() => stage?.close())

  async function render(values: object, called = name): Promise<readonly UnknownObject[]> {
    const release = { namespace: stage.namespace, name: called }
    const manifest = await stage.helm.template(release, { path: CHART }, { values: { settings: SETTINGS, ...values } })
    return manifestObjects(manifest)
  }

  async function apply(object: UnknownObject, dryRun = false): Promise<void> {
    const resource = await stage.client.resourceFor(object)
    const options = { dryRun, force: true, fieldManager: 'test', fieldValidation: 'Strict' } as const
    await stage.client.apply(resource, object, options)
    if (dryRun || resource.namespaced) return
    const path = `/apis/${object.apiVersion}/${resource.plural}/${object.metadata.name}`
    stage.cluster.removeAtClose(path)
  }

  test.concurrent.each([
    ['with defaults', {}],
    ['without a webhook', { webhook: { enabled: false }, watchNamespace: 'default' }],
    ['with more rights', { extraTenantRules: [{ apiGroups: ['example.com'], resources: ['a'], verbs: ['get'] }] }],
    ['with a network policy and protected metrics', { networkPolicy: { enabled: true }, metrics: { protected: true } }],
    ['with shards', { shards: 8 }],
    ['with any account', { settings: { ...SETTINGS, serviceAccounts: ['*'] } }],
    ['with accounts in created namespaces', { settings: { ...SETTINGS, createdNamespaces: { clusterRole: 'admin' } } }],
  ])('renders objects that a cluster accepts %s', async (_, values) => {
    const objects = await render(values)
    for (const object of objects) await apply(object, true)
    const text = objects.find(({ kind }) => kind === 'ConfigMap')?.data as { readonly 'settings.yaml': string }
    expect(parseSettings(text['settings.yaml'])).toMatchObject(SETTINGS)
  })

  test.concurrent('limits what whoever holds the token of the operator can create to namespaces of tenants', async ({
    expect,
  }) => {
    const called = `guarded-${run}`
    const clusterRole = `${called}-tenant`
    const objects = await render({ settings: { ...SETTINGS, createdNamespaces: { clusterRole } } }, called)
    for (const object of objects.filter(({ kind }) => RBAC.has(kind))) await apply(object)
    const thief = createClient({ config: await serviceAccount(called) })
    /** Why something is not created; empty when it is. */
    const attempt = async (object: UnknownObject) => {
      const resource = await stage.client.resourceFor(object)
      return thief.create(resource, object, { dryRun: true }).then(
        () => '',
        (error: Error) => error.message,
      )
    }
    const namespace = (labels: Record<string, string>) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `${called}-new`, labels },
    })
    const own = { 'app.kubernetes.io/managed-by': 'collector-operator' }
    const enforce = 'pod-security.kubernetes.io/enforce'
    const good = namespace({ ...own, [enforce]: 'baseline', 'example.com/tenant': 'acme' })
    const binding = (where: string, parts: object = {}, name = 'collector') => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace: where, name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
      subjects: [{ kind: 'ServiceAccount', namespace: where, name: 'collector' }],
      ...parts,
    })
    const account = (where: string, name = 'collector') => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: where, name },
    })
    // A real API server enforces policies and grants rights a moment after they are created.
    await expect.poll(() => attempt(namespace(own)), { timeout: 60_000 }).toContain('createdNamespaces.labels')
    expect(await attempt(namespace({}))).toContain('createdNamespaces.labels')
    expect(await attempt(namespace({ ...own, [enforce]: 'privileged' }))).toContain('createdNamespaces.labels')
    const older = { ...own, [enforce]: 'baseline', [`${enforce}-version`]: 'v1.0' }
    expect(await attempt(namespace(older))).toContain('createdNamespaces.labels')
    expect(await attempt(good)).toBe('')
    for (const where of ['kube-system', 'default']) {
      expect(await attempt(account(where))).toContain('namespaces that it has created itself')
      expect(await attempt(binding(where))).toContain('namespaces that it has created itself')
    }
    await apply(good)
    const { name: created } = good.metadata
    expect(await attempt(account(created))).toBe('')
    expect(await attempt(account(created, 'other'))).toContain('names in its settings')
    expect(await attempt(binding(created))).toBe('')
    const elsewhere = [{ kind: 'ServiceAccount', namespace: 'default', name: 'collector' }]
    const anyone = [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }]
    for (const subjects of [elsewhere, anyone]) {
      expect(await attempt(binding(created, { subjects }))).toContain('createdNamespaces.clusterRole')
    }
    await thief.close()
  })

  interface Rule {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly resourceNames?: readonly string[]
    readonly verbs: readonly string[]
  }

  test.concurrent('grants the operator no right to write objects of charts, and impersonation of one account name', async () => {
    const objects = await render({})
    const bound = objects.filter(({ kind }) => kind === 'ClusterRoleBinding').map(({ roleRef }) => roleRef)
    expect(bound).toEqual([expect.objectContaining({ name })])
    const role = objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name)
    const rules = role?.rules as readonly Rule[]
    const reading = ['get', 'list', 'watch']
    const writable = rules.filter(({ verbs }) => verbs.some((verb) => !reading.includes(verb)))
    expect(writable.flatMap(({ resources, verbs }) => resources.map((resource) => `${resource}: ${verbs}`))).toEqual([
      'collectors: get,list,watch,patch',
      'collectors/status: update',
      'events: create,patch',
      'namespaces: get,list,watch,create',
      'serviceaccounts: impersonate',
      'validatingwebhookconfigurations: get,patch',
      'customresourcedefinitions: get,patch',
    ])
    expect(rules.find(({ verbs }) => verbs.includes('impersonate'))?.resourceNames).toEqual(['collector'])
    expect(JSON.stringify(rules)).not.toContain('*')
  })

  /** Connects as the pod of the operator would. */
  async function serviceAccount(called = name): Promise<ClusterConfig> {
    const { status } = await stage.client.raw<{ readonly status: { readonly token: string } }>({
      method: 'POST',
      path: `/api/v1/namespaces/${stage.namespace}/serviceaccounts/${called}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    })
    const credentials = { get: async () => ({ authorization: `Bearer ${status.token}` }), renew: async () => undefined }
    return { ...(await loadConfig({ kubeconfig: stage.cluster.kubeconfigPath })), credentials }
  }

  const bad = () => ({
    ...collectorOf({ spec: { cluster: 'nowhere' }, collector: { configuration: '!' } }),
    metadata: { name: 'bad', namespace: stage.namespace },
  })
  /** Why a Collector is rejected; empty when it is not. */
  const attempt = () =>
    stage.client.create(Collectors, bad(), { dryRun: true }).then(
      () => '',
      (error: unknown) => String(error),
    )

  test.concurrent('grants the operator everything it does, and its webhook rejects invalid Collectors', async () => {
    const { client, namespace } = stage
    const createdNamespaces = { clusterRole: `${name}-tenant` }
    const objects = await render({ settings: { ...SETTINGS, createdNamespaces } })
    for (const object of objects.filter(({ kind }) => RBAC.has(kind))) await apply(object)
    const refusals: string[] = []
    const clusters = { development: { type: 'directory', location: stage.charts } }
    const operator = await stage.startOperator({
      settings: { clusters, createdNamespaces },
      config: await serviceAccount(),
      metrics: await createMetricsRegistry({ processMetrics: true }),
      metricsAddress: { host: '127.0.0.1', port: 0 },
      onRequest({ status, verb, resource }) {
        if (status === 403) refusals.push(`${verb} ${resource}`)
      },
      leaderElection: { lease: { namespace, name: 'collector-operator' }, identity: 'test' },
      webhook: {
        address: { host: '127.0.0.1', port: 0 },
        certificate: { secret: { namespace, name: `${name}-certificate` }, hosts: ['127.0.0.1'] },
        inject: { validating: [name] },
      },
    })
    const { port } = (await operator.webhooks?.server.address()) ?? {}
    const configurations = objects.filter(({ kind }) => kind === WEBHOOKS)
    for (const object of configurations) {
      // No kubelet runs here that could add endpoints to the Service; and other suites must not be affected.
      const [webhook] = object.webhooks as readonly object[]
      const clientConfig = { url: `https://127.0.0.1:${port}/validate` }
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
      await apply({ ...object, webhooks: [{ ...webhook, clientConfig, namespaceSelector, failurePolicy: 'Fail' }] })
    }
    await operator.webhooks?.certificates?.check(AbortSignal.timeout(30_000))
    await stage.until(async () => (await attempt()).includes('nowhere'))
    expect(await attempt()).toMatch(
      /spec\.collector\.configuration: is not Base64: encode .*; spec\.cluster: "nowhere" is unknown: use one of development/,
    )
    // A real API server learns of rights a moment after they are granted; earlier denials do not count.
    refusals.length = 0

    const tenant = { reference: `chart-${run}` }
    const collector = { name: 'log-collector', configuration: configuration('replicas: 1') }
    const written = collectorOf({ collector, tenant, spec: { drift: 'Heal' } })
    await client.create(Collectors, { ...written, metadata: { name: 'chart', namespace } })
    stage.cluster.removeAtClose(`/api/v1/namespaces/${tenant.reference}`)
    const release = { namespace: tenant.reference, name: 'log-collector-eu1' }
    await stage.untilPhase('chart', 'Available', 1)
    await client.delete(Services, release)
    await stage.untilPhase('chart', 'Available', 2)
    const patch = { spec: { collector: { configuration: configuration('replicas: 2') } } }
    await client.patch(Collectors, { namespace, name: 'chart' }, { type: 'merge', patch })
    await stage.untilPhase('chart', 'Available', 3)
    expect((await client.get(Deployments, release)).status?.availableReplicas).toBe(2)
    await client.delete(Collectors, { namespace, name: 'chart' })
    await stage.until(() => client.get(Collectors, { namespace, name: 'chart' }).then(() => false, isNotFound))
    await expect(client.get(Deployments, release)).rejects.toSatisfy(isNotFound)

    // A chart that contains more than the account may write is rejected, and the error names it.
    await stage.addChart('greedy', ROLE)
    const tenants = new Tenants(stage, 'greedy')
    await tenants.create('greedy', 'replicas: 0')
    expect(await tenants.untilReason('greedy', 'Degraded', 'HelmForbidden')).toContain('roles')
    const metrics = await operator.manager.metricsServer?.address()
    const scrape = await fetch(`http://127.0.0.1:${metrics?.port}/metrics`)
    const exposed = exposedNames(await scrape.text())
    const monitored = await render({ metrics: { serviceMonitor: true, alerts: true, dashboard: true } })
    const expressions = chartExpressions(monitored)
    expect(expressions.length).toBeGreaterThan(10)
    const used = expressions.flatMap(({ expression }) => metricNames(expression))
    // Written by the command line, for its client.
    const unknown = used.filter((name) => !exposed.has(name) && name !== 'rest_client_requests_total')
    expect(unknown).toEqual([])
    await operator.stop()
    expect(refusals).toEqual([])
  })

  /** Whether an account has a right. */
  async function may(user: string, resourceAttributes: Readonly<Record<string, string>>): Promise<boolean> {
    const { status } = await stage.client.raw<{ readonly status: { readonly allowed: boolean } }>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user, resourceAttributes },
      },
    })
    return status.allowed
  }

  test.concurrent('grants an operator of one namespace everything it does, and no right to Collectors of others', async () => {
    const { client, cluster } = stage
    // Without the webhook of the other operator.
    const namespace = await cluster.createNamespace()
    const limited = `limited-${run}`
    const createdNamespaces = { clusterRole: `${limited}-tenant` }
    const values = {
      settings: { ...SETTINGS, createdNamespaces },
      watchNamespace: namespace,
      adminNamespaces: [namespace],
    }
    const objects = await render({ ...values, webhook: { enabled: false } }, limited)
    for (const object of objects.filter(({ kind }) => RBAC.has(kind))) await apply(object)
    const everywhere = objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === limited)
    const resources = ((everywhere?.rules ?? []) as readonly Rule[]).flatMap((rule) => rule.resources)
    expect(everywhere).toBeDefined()
    expect(resources.join()).not.toMatch(/collectors|events/)
    // A real API server learns of rights a moment after they are granted.
    const account = `system:serviceaccount:${stage.namespace}:${limited}`
    await stage.until(() => may(account, { verb: 'create', resource: 'namespaces' }))
    await stage.until(() => may(account, { verb: 'list', group: 'example.com', resource: 'collectors', namespace }))
    expect(await may(account, { verb: 'list', group: 'example.com', resource: 'collectors' })).toBe(false)
    const refusals: string[] = []
    const clusters = { development: { type: 'directory', location: stage.charts } }
    const operator = await stage.startOperator({
      settings: { clusters, createdNamespaces },
      namespace,
      adminNamespaces: [namespace],
      config: await serviceAccount(limited),
      onRequest({ status, verb, resource }) {
        if (status === 403) refusals.push(`${verb} ${resource}`)
      },
    })
    const tenant = { reference: `limited-${run}` }
    const collector = { name: 'log-collector', configuration: configuration('replicas: 1') }
    cluster.removeAtClose(`/api/v1/namespaces/${tenant.reference}`)
    const written = collectorOf({ collector, tenant })
    await client.create(Collectors, { ...written, metadata: { name: 'limited', namespace } })
    const key = { namespace, name: 'limited' }
    await stage.until(async () => (await client.get(Collectors, key)).status?.phase === 'Available')
    await client.delete(Collectors, key)
    await stage.until(() => client.get(Collectors, key).then(() => false, isNotFound))
    await operator.stop()
    expect(refusals).toEqual([])
  })
})
