/** Logs and commands of simulated pods, over TLS. */

import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { sleep } from '@reeve/http'
import { createClient, DeadlineExceededError, isBadRequest, isNotFound, Pods } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let cluster: TestCluster
const caught = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)
const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`)

beforeAll(async () => {
  cluster = await openTestCluster()
  await createPod('web', { 'simulator.reeve.dev/logs': lines.join('\n') })
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
})

const key = (name: string) => ({ namespace: cluster.namespace, name })

async function createPod(name: string, annotations: Record<string, string>): Promise<void> {
  const metadata = { ...key(name), annotations }
  const spec = { containers: [{ name: 'main', image: 'web:1' }] }
  await cluster.client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })
  for (;;) {
    const pod = await cluster.client.get(Pods, key(name))
    if (pod.status?.containerStatuses?.[0]?.state?.running !== undefined) return
    await sleep(50, { signal: AbortSignal.timeout(20_000) })
  }
}

async function read(log: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of log) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

it('a log is streamed whole, by its last lines and by its first bytes', async () => {
  expect(await read(cluster.client.logs(key('web')))).toBe(`${lines.join('\n')}\n`)
  expect(await read(cluster.client.logs(key('web'), { tailLines: 2 }))).toBe('line 498\nline 499\n')
  expect(await read(cluster.client.logs(key('web'), { limitBytes: 8 }))).toBe('line 0\nl')
  expect(await read(cluster.client.logs(key('web'), { sinceTime: '2999-01-01T00:00:00Z' }))).toBe('')
})

it('a stream of an unknown pod or container fails with the error of the server', async () => {
  expect(isNotFound(await caught(read(cluster.client.logs(key('absent')))))).toBe(true)
  expect(isBadRequest(await caught(read(cluster.client.logs(key('web'), { container: 'other' }))))).toBe(true)
  expect(isNotFound(await caught(cluster.client.exec(key('absent'), { command: ['env'] })))).toBe(true)
})

it('a log is followed until the deadline, until an abort or until the reader leaves', async () => {
  const follow = (options: object) => read(cluster.client.logs(key('web'), { follow: true, ...options }))
  expect(await caught(follow({ timeoutMs: 200 }))).toBeInstanceOf(DeadlineExceededError)
  const reason = new Error('enough')
  expect(await caught(follow({ signal: AbortSignal.any([AbortSignal.abort(reason)]) }))).toBe(reason)
  for await (const chunk of cluster.client.logs(key('web'), { follow: true })) {
    expect(chunk.length).toBeGreaterThan(0)
    break
  }
})

it('exec runs a command and returns both outputs and the exit code', async () => {
  const echo = await cluster.client.exec(key('web'), { command: ['echo', 'a b', '&c=d'] })
  expect({ ...echo, stdout: String(echo.stdout), stderr: String(echo.stderr) }).toEqual({
    exitCode: 0,
    stdout: 'a b &c=d\n',
    stderr: '',
    isTruncated: false,
  })
  const missing = await cluster.client.exec(key('web'), { command: ['cat', '/none'] })
  expect([missing.exitCode, String(missing.stderr)]).toEqual([1, 'cat: /none: No such file or directory\n'])
})

it('exec sends input, and drops output beyond its limit', async () => {
  const stdin = 'x'.repeat(200_000)
  const all = await cluster.client.exec(key('web'), { command: ['cat'], stdin })
  expect(String(all.stdout)).toBe(stdin)
  const some = await cluster.client.exec(key('web'), { command: ['cat'], stdin, maxOutputBytes: 70_000 })
  expect([some.stdout.length, some.isTruncated]).toEqual([70_000, true])
})

it('exec runs commands without a socket, in the process of the cluster', async () => {
  await using inProcess = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow' })
  const client = createClient({
    transport: { send: (request) => inProcess.handle(request), close: () => inProcess.stop() },
  })
  const metadata = { namespace: 'default', name: 'web' }
  const spec = { containers: [{ name: 'main', image: 'web:1' }] }
  await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })
  const run = () => client.exec(metadata, { command: ['hostname'] }).catch(() => undefined)
  let result = await run()
  for (let turn = 0; result === undefined && turn < 200; turn += 1) {
    await sleep(50)
    result = await run()
  }
  expect(String(result?.stdout)).toBe('web\n')
})
