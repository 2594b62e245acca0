/** What is measured of one API server: the same requests for the embedded one and the real one. */
import type { RawClient } from '@reeve/cluster-under-test'
import type { MeasuredServer } from './embedded-servers.ts'

/** How much is done. */
export interface Workload {
  readonly pods: number
  /** Objects in the server when its memory is measured, pods included. */
  readonly objects: number
  readonly watchers: number
  /** Changes that every watcher has to see. */
  readonly changes: number
}

/** Figures of one server. */
export interface Measurements {
  readonly startMs: number
  readonly createsPerSecond: number
  readonly listMs: number
  readonly eventsPerSecond: number
  readonly memoryMiB: number
}

const NAMESPACE = '/api/v1/namespaces/bench'
const CONCURRENCY = 20
const LIST_RUNS = 5
const PROGRESS_STEP = 2_500

/** Reports progress. */
export type Progress = (line: string) => void

/** Runs the workload on a server that has just been started. */
export async function measure(server: MeasuredServer, workload: Workload, progress: Progress): Promise<Measurements> {
  const { client } = server
  progress(`ready after ${server.startMs.toFixed(0)} ms`)
  await post(client, '/api/v1/namespaces', { metadata: { name: 'bench' } })
  // Pods are admitted only where this one is, which otherwise a controller makes.
  await post(client, `${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } })
  await inParallel(200, (index) => post(client, `${NAMESPACE}/configmaps`, configMap(`warm-${index}`)))
  const createMs = await timed(() =>
    inParallel(
      workload.pods,
      (index) => post(client, `${NAMESPACE}/pods`, pod(`pod-${index}`)),
      (done) => progress(`created ${done} of ${workload.pods} pods`),
    ),
  )
  const listMs = await medianList(client, workload.pods)
  progress(`lists ${workload.pods} pods in ${listMs.toFixed(0)} ms`)
  const eventsPerSecond = await fanOut(client, workload)
  progress(`delivers ${eventsPerSecond.toFixed(0)} events/s to ${workload.watchers} watchers`)
  const rest = workload.objects - workload.pods
  await inParallel(
    rest,
    (index) => post(client, `${NAMESPACE}/configmaps`, configMap(`fill-${index}`)),
    (done) => progress(`has ${workload.pods + done} of ${workload.objects} objects`),
  )
  return {
    startMs: server.startMs,
    createsPerSecond: workload.pods / (createMs / 1_000),
    listMs,
    eventsPerSecond,
    memoryMiB: (await server.memoryBytes()) / 1024 ** 2,
  }
}

/** Events delivered per second, on a server that has just been started. */
export async function measureBriefly(
  { client }: MeasuredServer,
  load: Pick<Workload, 'watchers' | 'changes'>,
): Promise<number> {
  await post(client, '/api/v1/namespaces', { metadata: { name: 'bench' } })
  await inParallel(200, (index) => post(client, `${NAMESPACE}/configmaps`, configMap(`warm-${index}`)))
  return fanOut(client, load)
}

async function medianList(client: RawClient, expected: number): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < LIST_RUNS; run += 1) {
    times.push(
      await timed(async () => {
        const { text } = await client.send({ path: `${NAMESPACE}/pods` })
        // Counting by name is cheap beside parsing, which is the client's work and not the server's.
        const count = text.split('"uid":"').length - 1
        if (count !== expected) throw new Error(`the list has ${count} pods instead of ${expected}`)
      }),
    )
  }
  return times.toSorted((left, right) => left - right)[Math.floor(LIST_RUNS / 2)] ?? Number.NaN
}

/** Events delivered per second while objects are written as fast as the server takes them. */
async function fanOut(
  client: RawClient,
  { watchers, changes }: Pick<Workload, 'watchers' | 'changes'>,
): Promise<number> {
  const path = `${NAMESPACE}/secrets`
  const list = (await client.send({ path })).json<{ metadata: { resourceVersion: string } }>()
  const signal = AbortSignal.timeout(120_000)
  const url = `${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`
  const durationMs = await timed(async () => {
    const watching = Array.from({ length: watchers }, async () => {
      let seen = 0
      for await (const { type } of client.watch(url, { signal })) {
        seen += type === 'ADDED' ? 1 : 0
        if (seen === changes) return
      }
      throw new Error(`a watch ended after ${seen} of ${changes} events`)
    })
    const writing = inParallel(changes, (index) => post(client, path, { metadata: { name: `change-${index}` } }))
    await Promise.all([writing, ...watching])
  })
  return (watchers * changes) / (durationMs / 1_000)
}

async function post(client: RawClient, path: string, body: unknown): Promise<void> {
  const { status, text } = await client.send({ method: 'POST', path, body })
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`)
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await action()
  return performance.now() - start
}

async function inParallel(
  count: number,
  action: (index: number) => Promise<void>,
  onProgress: (done: number) => void = () => undefined,
): Promise<void> {
  let next = 0
  let done = 0
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      await action(index)
      done += 1
      if (done % PROGRESS_STEP === 0) onProgress(done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

function configMap(name: string) {
  return { metadata: { name, labels: { app: 'bench' } }, data: { text: 'x'.repeat(200) } }
}

function pod(name: string) {
  const resources = { requests: { cpu: '10m', memory: '16Mi' } }
  const container = { name: 'main', image: 'nginx:1.27', ports: [{ containerPort: 80 }], resources }
  return { metadata: { name, labels: { app: 'bench' } }, spec: { containers: [container] } }
}
