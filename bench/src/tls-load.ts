/** Load on a webhook server in a separate process, as in a cluster. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ServerReady } from './serve-tls.ts'

/** As many as an API server keeps open to a webhook under load. */
export const CONNECTIONS = 8
const ROUNDS = 3

/** Connections to a server. */
export interface ServerConnections {
  /** The response to a review. */
  post(path: string, body: Buffer): Promise<Buffer>
  close(): void
}

/** A server process and connections to it. */
export type LoadedServer = Pick<ServerConnections, 'post'> & AsyncDisposable

/** Starts the program; with `answerBytes` it serves a constant response of that size. */
export async function startServer(program: URL, answerBytes?: number): Promise<LoadedServer> {
  const child: ChildProcess = fork(fileURLToPath(program), answerBytes === undefined ? [] : [String(answerBytes)])
  const ended = once(child, 'exit')
  const [ready] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the server of the benchmark ended with ${code}`))),
  ])) as [ServerReady] // the only message it sends
  const connections = connectTo(ready)
  return {
    post: connections.post,
    async [Symbol.asyncDispose]() {
      connections.close()
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Opens connections to a server of this machine as they are needed, and keeps them. */
export function connectTo({ port, authority }: ServerReady): ServerConnections {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca: authority, minVersion: 'TLSv1.3' })
  const headers = { 'content-type': 'application/json' }
  return {
    async post(path, body) {
      const options = { agent, host: '127.0.0.1', port, path, method: 'POST' }
      const sent = request({ ...options, headers: { ...headers, 'content-length': body.length } })
      sent.end(body)
      const [response] = await once(sent, 'response')
      const answer = await buffer(response)
      if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}: ${answer}`)
      return answer
    },
    close: () => agent.destroy(),
  }
}

/** What a server did under load. */
export interface Figures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** What is sent, round robin. */
export interface LoadOptions {
  readonly path: string
  readonly bodies: readonly Buffer[]
  readonly roundMs: number
}

/** Medians of several rounds on both servers, and the rounds themselves. */
export interface ComparedLoad {
  readonly own: Figures
  readonly bare: Figures
  readonly rounds: readonly { readonly own: Figures; readonly bare: Figures }[]
}

/** Rounds alternate, so that both servers meet the same machine; the first warms up. */
export async function compare(
  own: Pick<ServerConnections, 'post'>,
  bare: Pick<ServerConnections, 'post'>,
  options: LoadOptions,
): Promise<ComparedLoad> {
  const rounds: { readonly own: Figures; readonly bare: Figures }[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const pair = { own: await load(own, options), bare: await load(bare, options) }
    if (round > 0) rounds.push(pair)
  }
  return { own: medians(rounds.map((round) => round.own)), bare: medians(rounds.map((round) => round.bare)), rounds }
}

async function load(server: Pick<ServerConnections, 'post'>, { path, bodies, roundMs }: LoadOptions): Promise<Figures> {
  const latencies: number[] = []
  const startMs = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() - startMs < roundMs) {
        const body = bodies[next++ % bodies.length] ?? Buffer.alloc(0)
        const sentMs = performance.now()
        await server.post(path, body)
        latencies.push(performance.now() - sentMs)
      }
    }),
  )
  const durationMs = performance.now() - startMs
  latencies.sort((one, other) => one - other)
  const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return { perSecond: (latencies.length * 1_000) / durationMs, p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
}

function medians(figures: readonly Figures[]): Figures {
  return {
    perSecond: median(figures.map(({ perSecond }) => perSecond)),
    p50Ms: median(figures.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(figures.map(({ p99Ms }) => p99Ms)),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
