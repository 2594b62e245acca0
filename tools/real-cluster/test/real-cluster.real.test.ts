/** The control plane itself: it behaves like a regular cluster and leaves nothing behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:https'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createCertificateAuthority } from '../src/certificates.ts'
import {
  ApiClient,
  findBinaries,
  hasGo,
  type RealCluster,
  RequestFailedError,
  readKubeconfig,
  startRealCluster,
} from '../src/index.ts'

const isAvailable = (await findBinaries()) !== undefined || (await hasGo())
const reason = isAvailable ? '' : ' (skipped: no binaries, and no Go to build them)'

describe.skipIf(!isAvailable)(`a real control plane${reason}`, () => {
  let cluster: RealCluster
  let admin: ApiClient

  beforeAll(async () => {
    cluster = await startRealCluster()
    admin = new ApiClient(cluster)
  }, 1_200_000)

  afterAll(async () => {
    await admin?.close()
    await cluster?.stop()
  })

  it('is ready', async () => {
    expect(await admin.text({ method: 'GET', path: '/readyz' })).toBe('ok')
  })

  it('reports the version that go.mod pins', async () => {
    const version = await admin.json<{ gitVersion: string }>({ method: 'GET', path: '/version' })
    expect(version.gitVersion).toMatch(/^v1\.\d+\.\d+$/)
  })

  it('writes a kubeconfig that reaches it as administrator', async () => {
    const client = new ApiClient(await readKubeconfig(cluster.kubeconfigPath))
    const review = await client.json<{ status: { userInfo: { groups: string[] } } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    await client.close()
    expect(review.status.userInfo.groups).toContain('system:masters')
  })

  it('lets anonymous requests read the version and nothing else', async () => {
    const anonymous = new ApiClient({ server: cluster.server, ca: cluster.ca })
    const pods = anonymous.text({ method: 'GET', path: '/api/v1/pods' })
    await expect(pods).rejects.toThrow('system:anonymous')
    await expect(pods).rejects.toMatchObject({ status: 403 })
    expect(await anonymous.text({ method: 'GET', path: '/version' })).toContain('gitVersion')
    await anonymous.close()
  })

  it('keeps its data when the API server is killed and started again', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } }
    await admin.text({ method: 'POST', path, body })
    await cluster.stopApiServer()
    await expect(admin.text({ method: 'GET', path: '/readyz' })).rejects.toThrow()
    await cluster.startApiServer()
    expect(await admin.text({ method: 'GET', path: `${path}/kept` })).toContain('"kept"')
  })

  it('permits a user exactly what RBAC grants', async () => {
    await admin.text({
      method: 'POST',
      path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jo' }],
      },
    })
    const jo = new ApiClient({ ...cluster, ...(await cluster.issueClientCertificate({ user: 'jo' })) })
    const path = '/api/v1/namespaces/default/configmaps'
    // The authorizer reads bindings from its cache, which is a moment behind.
    const list = await eventually(() => jo.text({ method: 'GET', path }))
    expect(list).toContain('ConfigMapList')
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    await expect(jo.text({ method: 'POST', path, body })).rejects.toMatchObject({ status: 403 })
    await jo.close()
  })

  it('runs the garbage collector', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    const create = (name: string, ownerReferences: object[]) =>
      admin.json<{ metadata: { uid: string } }>({ method: 'POST', path, body: { metadata: { name, ownerReferences } } })
    const owner = await create('owner', [])
    await create('owned', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }])
    await admin.text({ method: 'DELETE', path: `${path}/owner` })
    await eventually(async () => {
      const isGone = await admin.text({ method: 'GET', path: `${path}/owned` }).then(
        () => false,
        (error: unknown) => error instanceof RequestFailedError && error.status === 404,
      )
      if (!isGone) throw new Error('the dependent still exists')
    })
  })

  it('calls webhooks on loopback', async () => {
    const authority = await createCertificateAuthority('webhook')
    const { cert, key } = await authority.issueServer('webhook', ['127.0.0.1'])
    const server = createServer({ cert, key }, async (request, response) => {
      const review = JSON.parse(Buffer.concat(await request.toArray()).toString())
      const status = { message: 'not on my watch' }
      response.end(JSON.stringify({ ...review, response: { uid: review.request.uid, allowed: false, status } }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await admin.text({
      method: 'POST',
      path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      body: {
        metadata: { name: 'deny' },
        webhooks: [
          {
            name: 'deny.example.com',
            clientConfig: {
              url: `https://127.0.0.1:${port}/`,
              caBundle: Buffer.from(authority.pair.cert).toString('base64'),
            },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['CREATE'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    })
    await eventually(async () => {
      const path = '/api/v1/namespaces/default/secrets?dryRun=All'
      const secret = admin.text({ method: 'POST', path, body: { metadata: { name: 'x' } } })
      await expect(secret).rejects.toThrow('not on my watch')
    })
    server.close()
  })

  it('deletes namespaces and issues service account tokens', async () => {
    await admin.text({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'short-lived' } } })
    const account = '/api/v1/namespaces/short-lived/serviceaccounts/default'
    await eventually(() => admin.text({ method: 'GET', path: account }))
    const { status } = await admin.json<{ status: { token: string } }>({
      method: 'POST',
      path: `${account}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    })
    const client = new ApiClient({ server: cluster.server, ca: cluster.ca, token: status.token })
    await expect(client.text({ method: 'GET', path: '/api/v1/pods' })).rejects.toThrow(
      'system:serviceaccount:short-lived:default',
    )
    await client.close()
    await admin.text({ method: 'DELETE', path: '/api/v1/namespaces/short-lived' })
    await eventually(async () => {
      const list = await admin.text({ method: 'GET', path: '/api/v1/namespaces' })
      if (list.includes('"short-lived"')) throw new Error('the namespace still exists')
    })
  })
})

describe.skipIf(!isAvailable)(`stopping a real control plane${reason}`, () => {
  it('leaves no process and no folder after stop', async () => {
    const cluster = await startRealCluster()
    const { processes, folder } = cluster
    expect(living(processes)).toEqual(['etcd', 'kube-apiserver', 'kube-controller-manager', 'supervisor'])
    await cluster.stop()
    expect(living(processes)).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })

  it('leaves no process and no folder when its caller is killed', async () => {
    const caller = spawnCaller()
    const { processes, folder } = await firstReport(caller)
    expect(living(processes)).toHaveLength(4)
    caller.kill('SIGKILL')
    await once(caller, 'exit')
    await eventually(async () => {
      expect(living(processes)).toEqual([])
      expect(existsSync(folder)).toBe(false)
    })
  })

  it('leaves no process and no folder when its supervisor is killed', async () => {
    const cluster = await startRealCluster()
    const { processes, folder } = cluster
    process.kill(processes.supervisor ?? Number.NaN, 'SIGKILL')
    await expect(cluster.failed).rejects.toMatchObject({ component: 'supervisor' })
    await eventually(async () => {
      expect(living(processes)).toEqual([])
      expect(existsSync(folder)).toBe(false)
    })
    await cluster.stop()
  })

  it('names the component that exited during the start, and stops the others', async () => {
    const start = startRealCluster({ apiServerArguments: ['--no-such-flag'] })
    await expect(start).rejects.toMatchObject({
      code: 'REAL_CLUSTER_COMPONENT_EXITED',
      component: 'kube-apiserver',
      logTail: expect.stringContaining('no-such-flag'),
    })
  })

  it('reports a component that exits while it runs', async () => {
    const cluster = await startRealCluster({ controllers: [] })
    process.kill(cluster.processes.etcd ?? Number.NaN, 'SIGKILL')
    await expect(cluster.failed).rejects.toMatchObject({ component: 'etcd' })
    await cluster.stop()
    expect(existsSync(cluster.folder)).toBe(false)
  })
})

function spawnCaller(): ChildProcess {
  const program = `
    const { startRealCluster } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)})
    const { processes, folder } = await startRealCluster()
    console.log(JSON.stringify({ processes, folder }))`
  return spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function firstReport(caller: ChildProcess): Promise<{ processes: Record<string, number>; folder: string }> {
  if (caller.stdout === null) throw new Error('the caller has no output')
  const [line] = await once(createInterface({ input: caller.stdout }), 'line')
  return JSON.parse(String(line))
}

/** Names of the processes that still run, sorted. */
function living(processes: Readonly<Record<string, number>>): string[] {
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      // No such process: it does not run.
      return false
    }
  }
  return Object.keys(processes)
    .filter((name) => isAlive(processes[name] ?? Number.NaN))
    .sort()
}

function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  return vi.waitFor(attempt, { timeout: 60_000, interval: 50 })
}
