/** Reviews that the webhooks of the Dynatrace operator answer, beside what Node's TLS server can do at all. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ServerReady } from './admission-server.ts'
import type { Result } from './result.ts'

const SERVER = fileURLToPath(new URL('admission-server.ts', import.meta.url))
/** As many as an API server holds open to a webhook under load. */
const CONNECTIONS = 8
const ROUNDS = 3

/** How long each round of each server takes. */
export interface AdmissionLoad {
  readonly roundMs: number
}

/** Validation in the stored and in an older version, and conversion: reviews per second and the 99th percentile. */
export async function admission({ roundMs }: AdmissionLoad): Promise<readonly Result[]> {
  const results: Result[] = []
  await using webhooks = await startServer()
  for (const { name, path, body } of SCENARIOS) {
    const answerBytes = (await webhooks.post(path, body)).length
    await using bare = await startServer(answerBytes)
    const own: Round[] = []
    const limit: Round[] = []
    // The first round warms up; the others alternate, so that both meet the same machine.
    for (let round = 0; round <= ROUNDS; round++) {
      const pair = [await load(webhooks, path, body, roundMs), await load(bare, path, body, roundMs)] as const
      if (round === 0) continue
      own.push(pair[0])
      limit.push(pair[1])
    }
    const rate = (rounds: readonly Round[]) => median(rounds.map(({ perSecond }) => perSecond))
    const p99 = (rounds: readonly Round[]) => median(rounds.map(({ p99Ms }) => p99Ms))
    results.push(
      {
        name: `${name}, per second`,
        figure: `${rate(own).toFixed(0)} reviews/s`,
        beside: `${rate(limit).toFixed(0)}/s from a bare TLS server`,
        ratio: rate(own) / rate(limit),
        note: `request of ${body.length} and answer of ${answerBytes} bytes`,
      },
      {
        name: `${name}, p99`,
        figure: `${p99(own).toFixed(1)} ms`,
        beside: `${p99(limit).toFixed(1)} ms`,
        ratio: p99(own) / p99(limit),
        note: `lower is better; ${CONNECTIONS} connections`,
      },
    )
  }
  return results
}

const SPEC = {
  apiUrl: 'https://abc12345.live.dynatrace.com/api',
  metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: { team: 'shop' } } },
  oneAgent: {
    cloudNativeFullStack: {
      namespaceSelector: { matchLabels: { team: 'shop' } },
      args: ['--set-host-property=stage=test', '--set-host-tag=bench'],
      tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
    },
  },
  activeGate: {
    capabilities: ['routing', 'kubernetes-monitoring', 'dynatrace-api'],
    resources: { requests: { cpu: '500m', memory: '512Mi' }, limits: { cpu: '1000m', memory: '1.5Gi' } },
  },
}

const dynakube = (version: string) => ({
  apiVersion: `dynatrace.com/${version}`,
  kind: 'DynaKube',
  metadata: { namespace: 'dynatrace', name: 'dynakube', uid: 'bench', generation: 1 },
  spec: SPEC,
})

function admissionReview(version: string): Buffer {
  const kind = { group: 'dynatrace.com', version, kind: 'DynaKube' }
  const resource = { group: 'dynatrace.com', version, resource: 'dynakubes' }
  const object = dynakube(version)
  return json({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'bench', kind, resource, operation: 'CREATE', namespace: 'dynatrace', name: 'dynakube', object },
  })
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))

const SCENARIOS = [
  {
    name: 'validation of v1beta6',
    path: '/validate-dynatrace-com-v1beta6-dynakube',
    body: admissionReview('v1beta6'),
  },
  {
    name: 'validation of v1beta5',
    path: '/validate-dynatrace-com-v1beta5-dynakube',
    body: admissionReview('v1beta5'),
  },
  {
    name: 'conversion of one DynaKube',
    path: '/convert',
    body: json({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'bench', desiredAPIVersion: 'dynatrace.com/v1beta6', objects: [dynakube('v1beta5')] },
    }),
  },
  {
    name: 'conversion of 100 DynaKubes',
    path: '/convert',
    body: json({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: {
        uid: 'bench',
        desiredAPIVersion: 'dynatrace.com/v1beta6',
        objects: Array.from({ length: 100 }, () => dynakube('v1beta5')),
      },
    }),
  },
] as const

/** A server in a process of its own, as it is in a cluster, and connections to it. */
interface Server extends AsyncDisposable {
  /** The answer to a review. */
  post(path: string, body: Buffer): Promise<Buffer>
}

async function startServer(answerBytes?: number): Promise<Server> {
  const child: ChildProcess = fork(SERVER, answerBytes === undefined ? [] : [String(answerBytes)])
  const ended = once(child, 'exit')
  const [ready] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the server of the benchmark ended with ${code}`))),
  ])) as [ServerReady] // the only message it sends
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca: ready.authority, minVersion: 'TLSv1.3' })
  const headers = { 'content-type': 'application/json' }
  return {
    async post(path, body) {
      const options = { agent, host: '127.0.0.1', port: ready.port, path, method: 'POST' }
      const sent = request({ ...options, headers: { ...headers, 'content-length': body.length } })
      sent.end(body)
      const [response] = await once(sent, 'response')
      const answer = await buffer(response)
      if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}: ${answer}`)
      return answer
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      child.kill('SIGKILL')
      await ended
    },
  }
}

interface Round {
  readonly perSecond: number
  readonly p99Ms: number
}

async function load(server: Server, path: string, body: Buffer, roundMs: number): Promise<Round> {
  const latencies: number[] = []
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() - startMs < roundMs) {
        const sentMs = performance.now()
        await server.post(path, body)
        latencies.push(performance.now() - sentMs)
      }
    }),
  )
  const durationMs = performance.now() - startMs
  latencies.sort((one, other) => one - other)
  return {
    perSecond: (latencies.length * 1_000) / durationMs,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
