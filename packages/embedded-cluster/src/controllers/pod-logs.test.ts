import { afterEach, beforeEach, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import type { PodLogs } from '../rest/server-context.ts'
import { createPodLogs } from './pod-logs.ts'
import { pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  await cluster.stop()
})

const defaults: Parameters<PodLogs>[1] = {
  container: 'main',
  follow: false,
  previous: false,
  tailLines: undefined,
  limitBytes: undefined,
  timestamps: false,
  sinceTime: undefined,
  signal: new AbortController().signal,
}

function live(): JsonObject {
  const found = cluster.api.get('pods', 'default', 'p')
  if (found === undefined) throw new Error('the pod does not exist')
  return found
}

async function read(options: Partial<Parameters<PodLogs>[1]> = {}): Promise<string> {
  let text = ''
  for await (const line of createPodLogs(cluster.api)(live(), { ...defaults, ...options })) text += line
  return text
}

it('the log of a pod returns nothing before a container runs, and then a line for its start', async () => {
  await cluster.pods.create(pod('p'))
  await cluster.settle()
  expect(await read()).toBe('')
  await cluster.advance(5_000)
  expect(await read()).toBe('main: started from web:1\n')
})

it('the log of a pod returns the lines of the annotation, up to the requested number', async () => {
  await cluster.pods.create(pod('p', { annotations: { 'simulator.reeve.dev/logs': 'one\ntwo\nthree\n' } }))
  await cluster.advance(5_000)
  expect(await read()).toBe('one\ntwo\nthree\n')
  expect(await read({ tailLines: 1 })).toBe('three\n')
  expect(await read({ tailLines: 0 })).toBe('')
  expect(await read({ limitBytes: 6 })).toBe('one\ntw')
  expect(await read({ timestamps: true, tailLines: 1 })).toBe('2030-01-01T00:00:01.000Z three\n')
})

it('the log of a pod returns the previous run of a container that crashed', async () => {
  await cluster.pods.create(pod('p', { annotations: { 'simulator.reeve.dev/fail': 'CrashLoopBackOff' } }))
  await cluster.advance(5_000)
  expect(await read()).toBe('main: started from web:1\nmain: exit code 1\n')
  expect(await read({ previous: true })).toBe('main: started from web:1\nmain: exit code 1\n')
})

it('the log of a pod follows a container until it terminates', async () => {
  const annotations = { 'simulator.reeve.dev/exit-code': '2', 'simulator.reeve.dev/run-for': '1m' }
  await cluster.pods.create(pod('p', { spec: { restartPolicy: 'Never' }, annotations }))
  await cluster.advance(5_000)
  const reading = read({ follow: true })
  await cluster.advance(120_000)
  expect(await reading).toBe('main: started from web:1\nmain: exit code 2\n')
})

it('the log of a pod stops following when the reader disconnects or the pod is deleted', async () => {
  await cluster.pods.create(pod('p'))
  await cluster.advance(5_000)
  const abort = new AbortController()
  const reading = read({ follow: true, signal: abort.signal })
  const other = read({ follow: true })
  await cluster.settle()
  abort.abort()
  expect(await reading).toBe('main: started from web:1\n')
  await cluster.delete('pods', 'default', 'p')
  await cluster.advance(60_000)
  expect(await other).toBe('main: started from web:1\n')
})
