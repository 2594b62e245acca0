/** Access to a cluster that was started with default settings. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectionOf, RawClient } from '@reeve/cluster-under-test'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type EmbeddedClusterOptions, startEmbeddedCluster } from '../src/index.ts'
import { startClusterProcess } from './support/cluster-process.ts'

const NAMESPACES = '/api/v1/namespaces'
let folder: string
const opened: AsyncDisposable[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-access-'))
})
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** A cluster that listens, its administrator, and a client with a token or none. */
async function start(options: EmbeddedClusterOptions = {}) {
  const warnings: string[] = []
  const onWarning = (message: string) => warnings.push(message)
  const cluster = await startEmbeddedCluster({ controllers: false, onWarning, ...options })
  opened.push(cluster)
  const connection = connectionOf(cluster.adminKubeconfig())
  const client = (raw: RawClient) => {
    opened.push({ [Symbol.asyncDispose]: () => raw.close() })
    return raw
  }
  const { server, ca } = connection
  const bearing = (token?: string) => client(new RawClient({ server, ca, ...(token !== undefined && { token }) }))
  return { cluster, warnings, admin: client(new RawClient(connection)), bearing }
}

const statusOf = async (raw: RawClient, path: string) => (await raw.send({ method: 'GET', path })).status

describe('a cluster that listens', () => {
  test('admits its administrator, and no client without credentials', async () => {
    const { admin, bearing, warnings } = await start()
    expect(await statusOf(admin, NAMESPACES)).toBe(200)
    const nobody = bearing()
    for (const path of [NAMESPACES, '/version', '/healthz', '/api', '/openapi/v3']) {
      expect(await statusOf(nobody, path), path).toBe(401)
    }
    expect(await statusOf(bearing('nonsense'), NAMESPACES)).toBe(401)
    expect(warnings).toEqual([])
  })

  test('gives an account only the rights that roles give it', async () => {
    const { admin, bearing } = await start()
    const accounts = `${NAMESPACES}/default/serviceaccounts`
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'app' } }
    await admin.send({ method: 'POST', path: accounts, body: account })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const issued = await admin.send({ method: 'POST', path: `${accounts}/app/token`, body: request })
    const app = bearing(issued.json<{ status: { token: string } }>().status.token)
    expect(await statusOf(app, '/version')).toBe(200)
    expect(await statusOf(app, NAMESPACES)).toBe(403)
  })

  test('shows strangers only health and version when anonymous requests are allowed', async () => {
    const { bearing } = await start({ anonymousAuth: true })
    expect(await statusOf(bearing(), '/healthz')).toBe(200)
    expect(await statusOf(bearing(), NAMESPACES)).toBe(403)
  })

  test('warns when everyone may do everything', async () => {
    const { bearing, warnings } = await start({ authorization: 'AlwaysAllow', anonymousAuth: true })
    expect(await statusOf(bearing(), NAMESPACES)).toBe(200)
    expect(warnings).toEqual([expect.stringContaining('may do everything, without credentials')])
  })

  test('warns when other machines can reach it, and its kubeconfig works nevertheless', async () => {
    const { cluster, admin, bearing, warnings } = await start({ host: '0.0.0.0' })
    expect(warnings).toEqual([expect.stringContaining('which other machines can reach')])
    expect(cluster.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await statusOf(admin, NAMESPACES)).toBe(200)
    expect(await statusOf(bearing(), NAMESPACES)).toBe(401)
  })

  test('writes a kubeconfig that only its owner can read, also over one that everyone could', async () => {
    const { cluster } = await start()
    const path = join(folder, 'kubeconfig')
    await writeFile(path, 'old and much longer than nothing', { mode: 0o644 })
    await cluster.writeKubeconfig(path)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readFile(path, 'utf8')).toBe(cluster.adminKubeconfig())
  })
})

describe('reeve cluster', () => {
  const run = (...args: string[]) =>
    startClusterProcess('--no-controllers', '--kubeconfig', join(folder, 'kubeconfig'), ...args)

  test('admits only its kubeconfig, without a warning', async () => {
    await using process = await run()
    const connection = connectionOf(await readFile(join(folder, 'kubeconfig'), 'utf8'))
    const [admin, nobody] = [new RawClient(connection), new RawClient({ server: connection.server, ca: connection.ca })]
    expect(await statusOf(admin, NAMESPACES)).toBe(200)
    expect(await statusOf(nobody, NAMESPACES)).toBe(401)
    await Promise.all([admin.close(), nobody.close()])
    expect((await stat(join(folder, 'kubeconfig'))).mode & 0o777).toBe(0o600)
    expect(await process.terminate()).toBe(0)
    expect(await process.errors).toBe('')
  })

  test('warns loudly when it listens beyond this machine', async () => {
    await using process = await run('--host', '0.0.0.0')
    expect(await process.terminate()).toBe(0)
    expect(await process.errors).toMatch(
      /^WARNING: the embedded cluster listens on 0\.0\.0\.0:\d+, which other machines can/,
    )
  })
})
