/** `dynatrace-operator plan` as people run it: against a cluster over TLS, with a kubeconfig. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  Deployments,
  Namespaces,
  Secrets,
} from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { crdManifests } from '../../src/api/crd-manifests.ts'
import { runCli } from '../../src/cli/testing/run-cli.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'

const READER = 'token-of-a-reader'

let cluster: EmbeddedCluster
let simulator: TenantSimulator
let folder: string
const writes: string[] = []

beforeAll(async () => {
  simulator = await startTenantSimulator({ tenants: [{ id: 'abc12345' }] })
  cluster = await startEmbeddedCluster({
    controllers: false,
    authorization: 'RBAC',
    tokens: new Map([[READER, { username: 'reader', groups: ['readers'] }]]),
  })
  const client = createClient({
    transport: cluster.transport,
  })
  for (const manifest of crdManifests()) {
    // The manifest keeps its spec open; the cluster checks it.
    await client.create(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  for (const name of ['dynatrace', 'shop']) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const { tokens } = simulator.tenant('abc12345')
  const metadata = { namespace: 'dynatrace', name: 'dynakube' }
  const data = encodeSecret({ apiToken: tokens.get('apiToken')?.value ?? '' })
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data })
  const certs = simulator.caCertificate
  await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { certs } })
  for (const object of readerAccess()) await client.create(await client.resourceFor(object), object)
  folder = await mkdtemp(join(tmpdir(), 'plan-'))
  await cluster.writeKubeconfig(join(folder, 'admin'))
  await writeFile(join(folder, 'reader'), readerKubeconfig(cluster.adminKubeconfig()), { mode: 0o600 })
  cluster.requests.onRequest(({ method, path }) => {
    if (method !== 'GET') writes.push(`${method} ${path}`)
  })
})
afterAll(async () => {
  await cluster?.stop()
  await simulator?.close()
})

/** Everything may be read and nothing written. */
function readerAccess() {
  const rbac = 'rbac.authorization.k8s.io'
  const name = 'read-everything'
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: 'readers' }],
    },
  ]
}

function readerKubeconfig(admin: string): string {
  const config = parse(admin)
  return stringify({
    ...config,
    users: config.users.map(({ name }: { name: string }) => ({ name, user: { token: READER } })),
  })
}

const dynakube = (spec: object = {}, namespace = 'dynatrace') => ({
  apiVersion: 'dynatrace.com/v1beta6',
  kind: 'DynaKube',
  metadata: { name: 'dynakube', namespace },
  spec: {
    apiUrl: simulator.url('abc12345'),
    trustedCAs: 'dynakube',
    oneAgent: { cloudNativeFullStack: {} },
    ...spec,
  },
})

async function plan(object: object, kubeconfig: string, ...args: readonly string[]) {
  writes.length = 0
  simulator.clearCalls()
  const stdin = stringify(object)
  return runCli(['plan', '-f', '-', '--kubeconfig', join(folder, kubeconfig), ...args], { stdin })
}

const isAsked = (write: string) => write.includes('dryRun=All')

describe('plan with a kubeconfig', () => {
  it('sends only dry runs to the cluster, and only reads to the tenant', async () => {
    const { code, stdout, stderr } = await plan(dynakube(), 'admin')
    expect([code, stderr]).toEqual([2, ''])
    expect(stdout).toContain('+ DaemonSet  dynatrace/dynakube-oneagent')
    expect(stdout).toContain('~ Namespace  shop')
    expect(writes.length).toBeGreaterThan(5)
    expect(writes.filter((write) => !isAsked(write))).toEqual([])
    const changing = simulator
      .calls()
      .filter(({ method, operation }) => method !== 'GET' && operation !== 'token-lookup')
    expect(changing).toEqual([])
    expect(simulator.calls().length).toBeGreaterThan(3)
    expect(stdout).not.toContain('could not validate')
  })

  it('sends no dry runs when they are switched off', async () => {
    const { code } = await plan(dynakube(), 'admin', '--no-dry-run')
    expect([code, writes]).toEqual([2, []])
  })

  it('does without dry runs where only reading is allowed', async () => {
    const [full, read] = [await plan(dynakube(), 'admin', '-o', 'json'), await plan(dynakube(), 'reader', '-o', 'json')]
    expect([read.code, read.stderr]).toEqual([2, ''])
    expect(writes.filter((write) => !isAsked(write))).toEqual([])
    const { changes, findings } = JSON.parse(read.stdout)
    expect(changes).toEqual(JSON.parse(full.stdout).changes)
    expect(findings).toContainEqual({
      severity: 'note',
      message: expect.stringMatching(/could not validate .* and \d+ more by a dry run/),
    })
  })

  it('plans for the operator that is installed', async () => {
    const metadata = { namespace: 'dynatrace', name: 'dynatrace-operator' }
    const labels = { app: 'dynatrace-operator' }
    const env = [{ name: 'modules.json', value: '{"csiDriver":false,"oneAgent":true}' }]
    const containers = [{ name: 'operator', image: 'registry.example.com/dynatrace-operator:9.9.9', env }]
    const client = createClient({
      transport: cluster.transport,
    })
    await client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels: { 'app.kubernetes.io/version': '9.9.9' } },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    })
    const { stdout } = await plan(dynakube(), 'admin', '-o', 'json')
    await client.delete(Deployments, metadata)
    const { changes, findings } = JSON.parse(stdout)
    expect(JSON.stringify(changes)).toContain('"image":"registry.example.com/dynatrace-operator:9.9.9"')
    expect(findings).toContainEqual({
      severity: 'note',
      message: expect.stringMatching(/^the cluster runs the operator 9\.9\.9, this plan is that of /),
    })
  })

  it('says which namespace is missing', async () => {
    const { code, stdout } = await plan(dynakube({}, 'nowhere'), 'admin')
    expect([code, stdout]).toEqual([1, expect.stringContaining('namespace nowhere does not exist; create it')])
  })

  it('reports that the tenant rejects the token', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'dynatrace', name: 'other' } }
    const stdin = [{ ...secret, stringData: { apiToken: 'dt0c01.WRONG.TOKEN' } }, dynakube({ tokens: 'other' })]
    const { code, stdout } = await runCli(['plan', '-f', '-', '--kubeconfig', join(folder, 'admin')], {
      stdin: stdin.map((object) => stringify(object)).join('---\n'),
    })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/error: DynaKube dynatrace\/dynakube: apiToken: /)])
    expect(stdout).not.toContain('WRONG')
  })

  it('reports that the tenant is overloaded', async () => {
    simulator.faults.add({ kind: 'rate-limit', times: 100 })
    try {
      const { code, stdout } = await plan(dynakube(), 'admin')
      expect([code, stdout]).toEqual([1, expect.stringContaining('is unavailable (429)')])
    } finally {
      simulator.faults.clear()
    }
  })

  it('names a context that does not exist', async () => {
    const { code, stderr } = await plan(dynakube(), 'admin', '--context', 'elsewhere')
    expect([code, stderr]).toEqual([1, expect.stringContaining('elsewhere')])
  })
})
