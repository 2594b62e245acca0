/** An operator as a process of its own: what it takes from the machine, and how far it is. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { memoryCgroup } from '../memory-cgroup.ts'

/** How exact times are. Rendering metrics takes an operator about a millisecond: more often, that would be measured, too. */
const POLL_MS = 40
/** Ticks of the kernel in which CPU time is counted. */
const TICKS_PER_SECOND = 100

/** Of what an operator says before it ends, this many characters are shown. */
const MAX_LAST_WORDS = 1_000

/** How an operator is started. */
export interface OperatorCommand {
  readonly command: string
  /** The arguments, for a port on which it serves metrics. */
  args(metricsPort: number): readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The limit of its chart: Node derives the sizes of its heap from it. */
  readonly memoryLimitBytes: number
  /** The metric that counts its reconciles. */
  readonly reconciles: RegExp
}

/** How the process runs. */
export interface StartOptions {
  /** The core that it is pinned to. @default all of this process */
  readonly core?: string
  /** A module that Node loads first, which responds to each message; for {@link OperatorProcess.ask}. */
  readonly probe?: string
}

/** What a process has taken so far. */
export interface Usage {
  readonly cpuMs: number
  readonly residentBytes: number
  readonly peakBytes: number
}

/** A running operator; disposing asks it to end and waits for that. */
export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number
  usage(): Promise<Usage>
  /** Without pages of files, as the kubelet counts it before it evicts a pod. */
  anonymousBytes(): Promise<number>
  readonly peakAnonymousBytes: number
  /** How often it has reconciled. */
  reconciles(signal: AbortSignal): Promise<number>
  /** Resolves when it has reconciled this often; with 0, when it serves metrics. */
  untilReconciled(count: number, signal: AbortSignal): Promise<void>
  /** The response of the probe. */
  ask(signal: AbortSignal): Promise<unknown>
}

/** Starts an operator, in the memory cgroup of a pod. */
export async function startOperator(
  operator: OperatorCommand,
  { core, probe }: StartOptions = {},
): Promise<OperatorProcess> {
  const port = await freePort()
  const cgroup = await memoryCgroup(`reeve-peer-${port}`, operator.memoryLimitBytes)
  const [shell = '', ...prefix] = [
    ...cgroup.prefix,
    // When the benchmark is killed, the operator ends too.
    ...['setpriv', '--pdeathsig', 'KILL'],
    ...(core === undefined ? [] : ['taskset', '--cpu-list', core]),
  ]
  const probing = probe === undefined ? [] : ['--expose-gc', '--import', probe]
  const child = spawn(shell, [...prefix, operator.command, ...probing, ...operator.args(port)], {
    stdio: ['ignore', 'ignore', 'pipe', ...(probe === undefined ? [] : ['ipc' as const])],
    env: { ...process.env, ...operator.env },
  })
  const { pid } = child
  let lastWords = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords = `${lastWords}${chunk}`.slice(-MAX_LAST_WORDS)
  })
  const requireRunning = () => {
    if (child.exitCode === null && child.signalCode === null) return
    throw new Error(`${operator.command} ended with ${child.exitCode ?? child.signalCode}: ${lastWords}`)
  }
  if (pid === undefined) throw new Error(`${operator.command} could not be started`)
  const reconciles = async (signal: AbortSignal) => {
    requireRunning()
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal })
    return sum(await response.text(), operator.reconciles)
  }
  return {
    pid,
    usage: async () => {
      requireRunning()
      return usageOf(pid)
    },
    anonymousBytes: () => cgroup.anonymousBytes(),
    get peakAnonymousBytes() {
      return cgroup.peakBytes
    },
    reconciles,
    async untilReconciled(count, signal) {
      // Until it listens, requests fail.
      while ((await reconciles(signal).catch(() => -1)) < count) {
        requireRunning()
        await pause(POLL_MS, undefined, { signal })
      }
    },
    async ask(signal) {
      requireRunning()
      const response = once(child, 'message', { signal })
      child.send('ask')
      return (await response)[0]
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      }
      await cgroup[Symbol.asyncDispose]()
    },
  }
}

function sum(text: string, metric: RegExp): number {
  return text
    .split('\n')
    .filter((line) => metric.test(line))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** Reads what the kernel has counted for a process. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  // The name of the program may contain spaces; fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024
  return { cpuMs: (ticks * 1_000) / TICKS_PER_SECOND, residentBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') }
}
