/** Downloads and unpacks a large agent: speed beside raw `fetch` into a file, and memory beside its limit. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { unpackZip } from '@reeve/archives'
import { agentFileMode, codeModules, createTenantClient, type TenantClient } from '@reeve/dynatrace/tenant'
import type { Result } from './result.ts'

const MIB = 1024 ** 2
const MEMORY_LIMIT_BYTES = 64 * MIB
const ROUNDS = 4
const SERVER = fileURLToPath(new URL('./agent-download-server.ts', import.meta.url))

/** A simulated tenant in another process. */
export interface Server {
  readonly apiUrl: string
  readonly apiToken: string
  readonly version: string
  readonly certificate: string
}

/** One agent of `sizeBytes`, from a simulated tenant in another process, over TLS. */
export async function agentDownload(sizeBytes: number): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  await using tenant = await startServer(sizeBytes)
  try {
    const { server } = tenant
    await using client = createTenantClient({ ...server, trustedCertificates: server.certificate, env: {} })
    // Memory first, in a process that has not downloaded anything: what an earlier download left behind would be used
    // again and hide the growth. It also makes the server build the archive, so that the speeds do not include that.
    const memory = await measureMemory(client, server, folder)
    const speeds = await measureSpeeds(client, server, folder)
    return results(memory, speeds)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Memory {
  readonly bytes: number
  readonly unpackMs: number
  readonly growthBytes: number
}

async function measureMemory(client: TenantClient, { version }: Server, folder: string): Promise<Memory> {
  const file = join(folder, 'agent.zip')
  const target = join(folder, 'agent')
  await mkdir(target)
  // Loads the HTTP client and connects; neither is about the size of an agent.
  await client.versions.latestGateway()
  using memory = new MemoryWatch()
  await client.installers.download(codeModules('x64'), version, file)
  const startedAt = performance.now()
  await unpackZip(file, target, { fileMode: agentFileMode })
  const unpackMs = performance.now() - startedAt
  const { size } = await stat(file)
  await rm(target, { recursive: true, force: true })
  await rm(file)
  return { bytes: size, unpackMs, growthBytes: memory.growthBytes }
}

interface Speeds {
  readonly clientMs: number
  readonly rawMs: number
}

/** The best of several runs each, alternating: the second of a pair finds the disk busy with the first. */
async function measureSpeeds(client: TenantClient, server: Server, folder: string): Promise<Speeds> {
  const file = join(folder, 'speed.zip')
  const byClient = async () => {
    const startedAt = performance.now()
    await client.installers.download(codeModules('x64'), server.version, file)
    return performance.now() - startedAt
  }
  const clientRuns: number[] = []
  const rawRuns: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const inTurn = round % 2 === 0 ? (['raw', 'client'] as const) : (['client', 'raw'] as const)
    for (const who of inTurn) {
      if (who === 'raw') rawRuns.push(await rawFetch(server, file))
      else clientRuns.push(await byClient())
      await rm(file)
    }
  }
  return { clientMs: Math.min(...clientRuns), rawMs: Math.min(...rawRuns) }
}

/** Samples the resident memory of this process. */
class MemoryWatch implements Disposable {
  readonly #before: number
  #peak: number
  readonly #timer: NodeJS.Timeout

  constructor() {
    globalThis.gc?.()
    this.#before = process.memoryUsage.rss()
    this.#peak = this.#before
    this.#timer = setInterval(() => this.#sample(), 10)
  }

  get growthBytes(): number {
    this.#sample()
    return this.#peak - this.#before
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #sample(): void {
    this.#peak = Math.max(this.#peak, process.memoryUsage.rss())
  }
}

/** The same bytes with nothing around them. */
async function rawFetch({ apiUrl, apiToken, version, certificate }: Server, file: string): Promise<number> {
  setDefaultCACertificates([...new Set([...getCACertificates('default'), certificate])])
  const query = 'flavor=multidistro&arch=x86&bitness=64&skipMetadata=true&include=all'
  const url = `${apiUrl}/v1/deployment/installer/agent/unix/paas/version/${version}?${query}`
  const startedAt = performance.now()
  const response = await fetch(url, { headers: { authorization: `Api-Token ${apiToken}` } })
  if (response.status !== 200 || response.body === null) throw new Error(`raw fetch: status ${response.status}`)
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file))
  return performance.now() - startedAt
}

/** Starts a tenant with an agent of `sizeBytes`. */
export async function startServer(sizeBytes: number): Promise<AsyncDisposable & { readonly server: Server }> {
  const child = fork(SERVER, [String(sizeBytes)], { execArgv: [] })
  return {
    server: await started(child),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function started(child: ChildProcess): Promise<Server> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the simulated tenant exited immediately'))),
  ])
  return message as Server // it is our own process that sends it
}

function results({ bytes, unpackMs, growthBytes }: Memory, { clientMs, rawMs }: Speeds): readonly Result[] {
  const mib = (value: number) => `${(value / MIB).toFixed(0)} MiB`
  const speed = (ms: number) => `${(bytes / MIB / (ms / 1_000)).toFixed(0)} MiB/s`
  return [
    {
      name: `download of a ${mib(bytes)} agent`,
      figure: speed(clientMs),
      beside: `${speed(rawMs)} by fetch`,
      ratio: rawMs / clientMs,
      note: `over TLS, hashed while streaming; best of ${ROUNDS} each, alternating`,
    },
    {
      name: 'resident memory while it is downloaded and unpacked',
      figure: `${mib(growthBytes)} more`,
      beside: `${mib(MEMORY_LIMIT_BYTES)} allowed`,
      ratio: growthBytes / MEMORY_LIMIT_BYTES,
      note: `lower is better; unpacked at ${speed(unpackMs)}`,
    },
  ]
}
