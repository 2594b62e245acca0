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
import {
  agentFileMode,
  codeModules,
  createEnvironmentClient,
  type EnvironmentClient,
  unpackZip,
} from '@reeve/dynatrace/environment'
import type { Result } from './result.ts'

const MIB = 1024 ** 2
const MEMORY_LIMIT_BYTES = 64 * MIB
const SERVER = fileURLToPath(new URL('./agent-download-server.ts', import.meta.url))

interface Server {
  readonly apiUrl: string
  readonly apiToken: string
  readonly version: string
  readonly certificate: string
}

/** One agent of `sizeBytes`, from a simulated environment in another process, over TLS. */
export async function agentDownload(sizeBytes: number): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const child = fork(SERVER, [String(sizeBytes)], { execArgv: [] })
  try {
    const server = await started(child)
    await using client = createEnvironmentClient({ ...server, trustedCertificates: server.certificate, env: {} })
    await warmUp(client, server, folder)
    const measured = await measure(client, server, folder)
    const raw = await rawFetch(server, join(folder, 'raw.zip'))
    return results(measured, raw)
  } finally {
    child.disconnect()
    await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
}

interface Measured {
  readonly bytes: number
  readonly downloadMs: number
  readonly unpackMs: number
  readonly growthBytes: number
}

async function measure(client: EnvironmentClient, { version }: Server, folder: string): Promise<Measured> {
  const file = join(folder, 'agent.zip')
  const target = join(folder, 'agent')
  await mkdir(target)
  using memory = new MemoryWatch()
  const startedAt = performance.now()
  await client.installers.download(codeModules('x64'), version, file)
  const downloadedAt = performance.now()
  await unpackZip(file, target, { fileMode: agentFileMode })
  const unpackedAt = performance.now()
  const { size } = await stat(file)
  await rm(target, { recursive: true, force: true })
  return {
    bytes: size,
    downloadMs: downloadedAt - startedAt,
    unpackMs: unpackedAt - downloadedAt,
    growthBytes: memory.growthBytes,
  }
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
  setDefaultCACertificates([...getCACertificates('default'), certificate])
  const query = 'flavor=multidistro&arch=x86&bitness=64&skipMetadata=true&include=all'
  const url = `${apiUrl}/v1/deployment/installer/agent/unix/paas/version/${version}?${query}`
  const startedAt = performance.now()
  const response = await fetch(url, { headers: { authorization: `Api-Token ${apiToken}` } })
  if (response.status !== 200 || response.body === null) throw new Error(`raw fetch: status ${response.status}`)
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file))
  return performance.now() - startedAt
}

/** Loads every module, connects, and lets the server make the archive. */
async function warmUp(client: EnvironmentClient, { version }: Server, folder: string): Promise<void> {
  const enough = new AbortController()
  const file = join(folder, 'warm-up.zip')
  const onProgress = () => enough.abort()
  await client.installers
    .download(codeModules('x64'), version, file, { signal: enough.signal, onProgress })
    .catch((error: unknown) => {
      if (!enough.signal.aborted) throw error
    })
  // Not a ZIP: unpacking fails, which loads it just as well.
  await unpackZip(file, folder).catch(() => undefined)
}

async function started(child: ChildProcess): Promise<Server> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the simulated environment ended at once'))),
  ])
  return message as Server // it is our own process that sends it
}

function results({ bytes, downloadMs, unpackMs, growthBytes }: Measured, rawMs: number): readonly Result[] {
  const mib = (value: number) => `${(value / MIB).toFixed(0)} MiB`
  const speed = (ms: number) => `${(bytes / MIB / (ms / 1_000)).toFixed(0)} MiB/s`
  return [
    {
      name: `download of a ${mib(bytes)} agent`,
      figure: speed(downloadMs),
      beside: `${speed(rawMs)} by fetch`,
      ratio: rawMs / downloadMs,
      note: 'over TLS, hashed on the way',
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
