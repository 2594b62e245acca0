/** The chart: what it installs is valid, and the operator needs no right beyond those it gives. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, type KubeClient, type KubeObject, sleep, type UnknownObject } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { createWebAppOperator, type WebApp, WebApps } from '../src/index.ts'
import { written } from './support/stage.ts'

const CHART = fileURLToPath(new URL('../chart', import.meta.url))
const RELEASE = 'webapp-chart-test'
const helm = await findClientBinary('helm')

let cluster: ClusterUnderTest
let admin: KubeClient
let namespace: string
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-chart-'))
  cluster = await openCluster()
  admin = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'chart-test' })
  namespace = await cluster.createNamespace()
})
afterAll(async () => {
  await admin.close()
  await cluster.close()
  await rm(folder, { recursive: true, force: true })
})

async function render(...values: string[]): Promise<readonly UnknownObject[]> {
  const sets = values.flatMap((value) => ['--set', value])
  const { stdout } = await promisify(execFile)(helm ?? '', [
    'template',
    RELEASE,
    CHART,
    '-n',
    namespace,
    '--include-crds',
    ...sets,
  ])
  return parseAllDocuments(stdout).flatMap((document) => {
    const object = document.toJS() as UnknownObject | null
    return object === null ? [] : [object]
  })
}

async function apply(object: UnknownObject, dryRun: boolean): Promise<void> {
  const resource = await admin.resourceFor(object)
  await admin.apply(resource, object, { dryRun, force: true, fieldValidation: 'Strict' })
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
  while (!(await condition())) await sleep(50, { signal: deadline })
}

describe.skipIf(helm === undefined)('the chart (skipped without helm)', () => {
  it.each([
    ['with defaults', []],
    ['without webhooks', ['webhook.enabled=false']],
    ['with a certificate of cert-manager', ['webhook.certificateSecretName=tls', 'metrics.dashboard=true']],
    ['for a few namespaces', ['watchNamespaces={shop,blog}', 'replicas=1', 'podDisruptionBudget.enabled=false']],
  ])('renders objects that the API server accepts %s', async (_, values) => {
    const objects = await render(...values)
    expect(objects.length).toBeGreaterThan(5)
    for (const object of objects) await apply(object, true)
  })

  it('gives the operator all the rights it uses: as its ServiceAccount it runs a WebApp without one refusal', async () => {
    const objects = await render('webhook.enabled=false')
    const needed = new Set([
      'CustomResourceDefinition',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
    ])
    for (const object of objects.filter(({ kind }) => needed.has(kind))) await apply(object, false)
    const { status } = await admin.raw<{ status: { token: string } }>({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${RELEASE}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    })
    const refusals: string[] = []
    const client = await connect({
      kubeconfig: await tokenKubeconfig(status.token),
      fieldManager: 'webapp-operator',
      onRequest: (report) => {
        if (report.status === 403) refusals.push(`${report.verb} ${report.resource}`)
      },
    })
    await until(() =>
      client.list(WebApps).then(
        () => true,
        () => false,
      ),
    )
    refusals.length = 0
    const stop = new AbortController()
    const { manager } = createWebAppOperator({
      client,
      leaderElection: { lease: { namespace, name: 'webapp-operator' }, identity: 'chart-test' },
    })
    const running = manager.run(stop.signal)
    try {
      const app: WebApp = written('chart', { ingress: { host: 'chart.example.com' } }, { namespace })
      await admin.create(WebApps, app)
      const phase = async () => (await admin.get(WebApps, { namespace, name: 'chart' })).status?.phase
      await until(async () => (await phase()) === 'Ready')
      await admin.patch(
        WebApps,
        { namespace, name: 'chart' },
        { type: 'merge', patch: { spec: { image: 'nginx:2', ingress: null } } },
      )
      await until(async () => (await phase()) !== 'Ready')
      await until(async () => (await phase()) === 'Ready')
      await until(async () => (await events()).some((reason) => reason === 'Ready'))
    } finally {
      stop.abort()
      await running
      await client.close()
    }
    expect(refusals).toEqual([])
  })
})

/** How a pod with this token would reach the cluster. */
async function tokenKubeconfig(token: string): Promise<string> {
  const { server, ca } = cluster.connection
  const path = join(folder, 'kubeconfig')
  const name = 'operator'
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
  await writeFile(path, stringify(config), { mode: 0o600 })
  return path
}

async function events(): Promise<readonly string[]> {
  const resource = await admin.resourceFor({ apiVersion: 'v1', kind: 'Event' })
  const { items } = await admin.listAll(resource, { namespace })
  return items.map((event) => String((event as KubeObject & { reason?: string }).reason))
}
