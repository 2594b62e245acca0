/** `reeve cluster --data-dir`, killed during writes over TLS: acknowledged writes are stored afterwards. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectionOf, RawClient } from '@reeve/cluster-under-test'
import { type TestContext, test } from 'vitest'
import { startClusterProcess } from './support/cluster-process.ts'

/** The folder of one test, and what works with it. */
async function openFolder({ onTestFinished }: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-kill-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  const connection = async () => connectionOf(await readFile(kubeconfig, 'utf8'))
  return {
    start: (...args: string[]) =>
      startClusterProcess(
        ...['--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig],
        ...['--no-controllers', ...args],
      ),
    connection,
    connect: async () => new RawClient(await connection()),
  }
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

/** Writes that the server acknowledged: the name of an object and its version, `undefined` after a deletion. */
type Acknowledged = Map<string, number | undefined>

/** Creates, changes and deletes until the connection breaks. A write without a response may or may not be stored. */
async function writeUntilCut(client: RawClient, writer: string, acknowledged: Acknowledged): Promise<void> {
  for (let index = 0; ; index += 1) {
    const name = `${writer}-${index}`
    const path = `${CONFIG_MAPS}/${name}`
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(index % 500) } }
    try {
      acknowledged.set(name, version(await client.send({ method: 'POST', path: CONFIG_MAPS, body })))
      if (index % 3 === 0) continue
      acknowledged.set(name, version(await client.send({ method: 'PUT', path, body: { ...body, data: { a: 'b' } } })))
      if (index % 3 === 1) continue
      await client.send({ method: 'DELETE', path })
      acknowledged.set(name, undefined)
    } catch {
      // The server was killed, which ends this loop; the write in progress is not checked.
      acknowledged.delete(name)
      return
    }
  }
}

function version(response: { json<T>(): T }): number {
  return Number(response.json<{ metadata: { resourceVersion: string } }>().metadata.resourceVersion)
}

test.concurrent('every acknowledged write is stored after repeated kills, and versions continue to increase', async (context) => {
  const { expect } = context
  const { start, connect } = await openFolder(context)
  const acknowledged: Acknowledged = new Map()
  let newest = 0
  for (let life = 0; life < 3; life += 1) {
    await using cluster = await start()
    const client = await connect()
    const { items } = (await client.send({ path: CONFIG_MAPS })).json<{
      items: { metadata: { name: string; resourceVersion: string } }[]
    }>()
    const stored = new Map(items.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]))
    for (const [name, expected] of acknowledged) expect([name, stored.get(name)]).toEqual([name, expected])
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'next-' } }
    const next = version(await client.send({ method: 'POST', path: CONFIG_MAPS, body }))
    expect(next).toBeGreaterThan(newest)

    const soFar = acknowledged.size
    const writers = ['a', 'b', 'c', 'd'].map((writer) => writeUntilCut(client, `${writer}${life}`, acknowledged))
    await expect.poll(() => acknowledged.size - soFar, { timeout: 20_000, interval: 5 }).toBeGreaterThan(100)
    await cluster.kill()
    await Promise.all(writers)
    await client.close()
    newest = Math.max(next, ...[...acknowledged.values()].map((value) => value ?? 0))
  }
})

test.concurrent('the kubeconfig and the tokens from before a kill stay valid', async (context) => {
  const { expect } = context
  const { start, connect, connection } = await openFolder(context)
  let port: string
  let token: string
  const path = '/api/v1/namespaces/default/serviceaccounts'
  {
    await using cluster = await start()
    port = new URL(cluster.url).port
    const client = await connect()
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }
    await client.send({ method: 'POST', path, body: account })
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const response = await client.send({ method: 'POST', path: `${path}/robot/token`, body })
    token = response.json<{ status: { token: string } }>().status.token
    await client.close()
  }
  const before = await connection()
  await using _cluster = await start('--port', port)
  const admin = new RawClient(before)
  const robot = new RawClient({ server: before.server, ca: before.ca, token })
  try {
    expect((await admin.send({ path: '/api/v1/secrets' })).status).toBe(200)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const who = await robot.send({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: review,
    })
    expect(who.json()).toMatchObject({ status: { userInfo: { username: 'system:serviceaccount:default:robot' } } })
  } finally {
    await admin.close()
    await robot.close()
  }
})

test.concurrent('a second cluster with the same data directory is rejected, and starts when the first has stopped', async (context) => {
  const { expect } = context
  const { start } = await openFolder(context)
  await using first = await start()
  await expect(start()).rejects.toThrow(/reeve cluster exited with 1: the data directory .* is used by process \d+/)
  expect(await first.terminate()).toBe(0)
  await using _second = await start()
})
