/** The init container of injected pods: its start beside that of Node itself, and its memory beside its limit. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Server, startServer } from './agent-download.ts'
import { bundleSmallCommands } from './operator-bundle.ts'
import type { Result } from './result.ts'

const MIB = 1024 ** 2
/** What the webhook grants the init container. */
const LIMIT_BYTES = 60 * MIB
const RUNS = 21
const POLL_MS = 1

/** Starts it many times, and once with an agent of `sizeBytes`. */
export async function bootstrapper(sizeBytes: number): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  try {
    const program = await bundleSmallCommands(folder)
    await writeFile(join(folder, 'endpoint.properties'), 'DT_METRICS_INGEST_URL=https://tenant.example\n')
    const metadata = [program, ...arguments_(folder), '--metadata-enrichment']
    const start = await startTimes(metadata)
    await using tenant = await startServer(sizeBytes)
    await writeInput(folder, tenant.server)
    const download = [`--version=${tenant.server.version}`, `--target=${join(folder, 'agent')}`]
    return [
      start,
      memory('metadata', await peakBytes(metadata)),
      memory(`a download of ${sizeBytes / MIB} MiB`, await peakBytes([...metadata, ...download])),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const arguments_ = (folder: string): readonly string[] => [
  'bootstrap',
  `--input-directory=${folder}`,
  `--config-directory=${join(folder, 'config')}`,
  '--attribute=k8s.pod.name=shop-0',
  '--attribute-container={"k8s.container.name":"app"}',
]

async function writeInput(folder: string, { apiUrl, apiToken, certificate }: Server): Promise<void> {
  await writeFile(join(folder, 'dtclient.config'), JSON.stringify({ url: apiUrl, apiToken }))
  await writeFile(join(folder, 'trusted.pem'), certificate)
}

/** Alternating, so that both see the same machine. */
async function startTimes(command: readonly string[]): Promise<Result> {
  const own: number[] = []
  const bare: number[] = []
  for (let run = 0; run < RUNS; run++) {
    bare.push(await timeOf(['-e', '0']))
    own.push(await timeOf(command))
  }
  return {
    name: 'init container that writes metadata',
    figure: `${median(own).toFixed(0)} ms`,
    beside: `${median(bare).toFixed(0)} ms for an empty Node process`,
    ratio: median(own) / median(bare),
    note: `lower is better, at most 1.5; medians of ${RUNS}`,
  }
}

async function timeOf(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const [code] = await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  if (code !== 0) throw new Error(`the process ended with ${code}`)
  return performance.now() - startedAt
}

/** The highest anonymous memory that was seen: the page cache goes when memory is needed, this does not. */
async function peakBytes(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  let peak = 0
  while (child.exitCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    peak = Math.max(peak, Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024)
    await pause(POLL_MS)
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`the process ended with ${code}`)
  return peak
}

function memory(what: string, bytes: number): Result {
  return {
    name: `anonymous memory of an init container, ${what}`,
    figure: `${(bytes / MIB).toFixed(1)} MiB`,
    beside: `${LIMIT_BYTES / MIB} MiB allowed`,
    ratio: bytes / LIMIT_BYTES,
    note: 'lower is better',
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}
