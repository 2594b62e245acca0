/** Pods that the webhook of the Dynatrace operator injects, beside what Node's TLS server can do at all. */
import { INJECT_PATH, injectRoute, LABEL_NAMESPACE_PATH, WorkloadLookup } from '@reeve/dynatrace'
import { INJECTION, memoryClient, namespaceReview, podReview, SIZE } from './injection-world.ts'
import type { Result } from './result.ts'
import { CONNECTIONS, compare, startServer } from './tls-load.ts'

const SERVER = new URL('injection-server.ts', import.meta.url)

/** Pods of as many Deployments, one after the other. */
const PODS = 4_000

/** Admissions per second, latencies, and the requests that the cache of owners saves. */
export async function injection({ roundMs }: { readonly roundMs: number }): Promise<readonly Result[]> {
  await using webhooks = await startServer(SERVER)
  const indices = Array.from({ length: SIZE.deployments }, (_, index) => index)
  const results: Result[] = []
  for (const { name, path, bodies } of [
    { name: 'injection of a pod', path: INJECT_PATH, bodies: indices.map(podReview) },
    { name: 'labelling of a namespace', path: LABEL_NAMESPACE_PATH, bodies: indices.map(namespaceReview) },
  ]) {
    const [first = Buffer.alloc(0)] = bodies
    const answer = await webhooks.post(path, first)
    if (!answer.includes('"patch"')) throw new Error(`${path} changes nothing: ${answer}`)
    await using constant = await startServer(SERVER, answer.length)
    const { own, bare } = await compare(webhooks, constant, { path, bodies, roundMs })
    const note = `lower is better; ${CONNECTIONS} connections`
    results.push(
      {
        name: `${name}, per second`,
        figure: `${own.perSecond.toFixed(0)} admissions/s`,
        beside: `${bare.perSecond.toFixed(0)}/s from a bare TLS server`,
        ratio: own.perSecond / bare.perSecond,
        note: `request of ${first.length} and response of ${answer.length} bytes; ${SIZE.namespaces} namespaces, ${SIZE.dynakubes} DynaKubes`,
      },
      { name: `${name}, p50`, figure: ms(own.p50Ms), beside: ms(bare.p50Ms), ratio: own.p50Ms / bare.p50Ms, note },
      { name: `${name}, p99`, figure: ms(own.p99Ms), beside: ms(bare.p99Ms), ratio: own.p99Ms / bare.p99Ms, note },
    )
  }
  return [...results, await savedRequests()]
}

const ms = (value: number): string => `${value.toFixed(1)} ms`

/** Requests to the API server for each pod, with cached owners and without. */
async function savedRequests(): Promise<Result> {
  const [remembered, forgotten] = [await requestsPerPod(undefined), await requestsPerPod(0)]
  return {
    name: 'requests to the API server for a pod',
    figure: `${remembered.toFixed(2)} with cached owners`,
    beside: `${forgotten.toFixed(2)} without`,
    ratio: remembered / forgotten,
    note: `lower is better; ${PODS} pods of ${SIZE.deployments} Deployments`,
  }
}

async function requestsPerPod(keptMs: number | undefined): Promise<number> {
  const { client, requests } = memoryClient()
  const route = injectRoute({
    ...INJECTION,
    client,
    workloads: new WorkloadLookup(client, keptMs === undefined ? {} : { keptMs }),
  })
  const { signal } = new AbortController()
  for (let index = 0; index < PODS; index++) await route.respond(JSON.parse(podReview(index).toString()), signal)
  return requests() / PODS
}
