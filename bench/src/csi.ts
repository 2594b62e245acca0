/** The CSI driver: volumes beside the bare sequence of system calls, a large agent, and memory of its processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { csiModule } from './csi-module.ts'
import { csiProcesses } from './csi-processes.ts'
import type { Result } from './result.ts'

const PROGRAM = fileURLToPath(new URL('./csi-volumes.ts', import.meta.url))

/** The garbage of the program that measures is not collected meanwhile. */
const NODE_FLAGS = ['--min-semi-space-size=64', '--max-semi-space-size=64']

/** Milliseconds of each call, by what was called. */
interface VolumeTimes {
  readonly publish: readonly number[]
  readonly unpublish: readonly number[]
}

/** All of it; `sizeBytes` is that of the agent. */
export async function csi(sizeBytes: number): Promise<readonly Result[]> {
  if (process.getuid?.() !== 0) throw new Error('the benchmark csi mounts file systems and needs root')
  return [...(await volumes()), ...(await csiModule(sizeBytes)), ...(await csiProcesses())]
}

/** Publishes and unpublishes volumes in a separate mount namespace. */
async function volumes(): Promise<readonly Result[]> {
  const args = ['--mount', '--propagation', 'private', process.execPath, ...NODE_FLAGS, PROGRAM]
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the benchmark ended with ${code}`)
  // Our own process printed it.
  const times = JSON.parse(output) as Readonly<Record<'driver' | 'connecting' | 'bare', VolumeTimes>>
  return (['publish', 'unpublish'] as const).flatMap((call) => [
    compared(`${call} a volume`, times.driver[call], times.bare[call]),
    compared(`${call} a volume, connecting each time`, times.connecting[call], times.bare[call]),
  ])
}

function compared(name: string, driver: readonly number[], bare: readonly number[]): Result {
  const shown = (times: readonly number[]) =>
    `${at(times, 0.5).toFixed(1)} / ${at(times, 0.99).toFixed(1)} ms, ${perSecond(times).toFixed(0)}/s`
  return {
    name: `${name}, p50 / p99`,
    figure: shown(driver),
    beside: `${shown(bare)} for a process that makes bare system calls`,
    ratio: at(driver, 0.99) / at(bare, 0.99),
    note: 'of p99, lower is better; one at a time, each in its own process, gRPC included',
  }
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((left, right) => left - right)[Math.floor((times.length - 1) * share)] ?? Number.NaN
}

function perSecond(times: readonly number[]): number {
  return (1_000 * times.length) / times.reduce((sum, time) => sum + time, 0)
}
