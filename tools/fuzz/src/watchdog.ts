/**
 * A second thread that ends the process when an input keeps the first one busy forever or fills its memory: nothing within
 * that thread could. The input is saved before.
 *
 * A hang is measured in CPU time of the process, so that a busy machine makes no false alarm. An input that waits without
 * using the CPU does not block its thread: the timeout of the property ends it.
 */
import { mkdirSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker, workerData } from 'node:worker_threads'

/** CPU time of the process after which any input is a hang; larger inputs may take three times what they are allowed. */
const HANG_MS = 15_000
const HANG_FACTOR = 3

/** Growth of the process that is out of control, and below the limit at which V8 would end it without a word. */
const MAX_GROWTH_BYTES = 768 * 1024 * 1024

/** Often enough to see memory grow by less than a GiB at a time. */
const CHECK_EVERY_MS = 50

/** No input is as long; a longer one would be saved in part. */
const MAX_BYTES = 1024 * 1024

/** A message to the thread. */
interface Watch {
  readonly memory: SharedArrayBuffer
  readonly findingFile: string
  readonly hangMs: number
}

/** The current input in memory that both threads see: a thread that hangs cannot tell what it was given. */
class CurrentInput {
  readonly #header: Int32Array
  readonly #bytes: Uint8Array

  constructor(memory: SharedArrayBuffer) {
    this.#header = new Int32Array(memory, 0, 3)
    this.#bytes = new Uint8Array(memory, 12)
  }

  /** Odd while an input is being run. */
  get number(): number {
    return Atomics.load(this.#header, 0)
  }

  get allowedMs(): number {
    return Atomics.load(this.#header, 2)
  }

  get input(): Uint8Array {
    return this.#bytes.slice(0, Atomics.load(this.#header, 1))
  }

  set(input: Uint8Array, allowedMs: number): void {
    const kept = input.subarray(0, this.#bytes.length)
    this.#bytes.set(kept)
    Atomics.store(this.#header, 1, kept.length)
    Atomics.store(this.#header, 2, Math.ceil(allowedMs))
    Atomics.add(this.#header, 0, 1)
  }

  clear(): void {
    Atomics.add(this.#header, 0, 1)
  }
}

/** Options of {@link Watchdog}. */
export interface WatchdogOptions {
  /** @default 15_000 */
  readonly hangMs?: number
}

/**
 * A thread that watches the one that created it.
 *
 * @example
 * await using watchdog = new Watchdog('.reeve/fuzz/kubeconfig')
 * watchdog.starts(input, 250)
 * parse(input)
 * watchdog.ends()
 */
export class Watchdog implements AsyncDisposable {
  readonly #current: CurrentInput
  readonly #worker: Worker

  constructor(findingFile: string, { hangMs = HANG_MS }: WatchdogOptions = {}) {
    const memory = new SharedArrayBuffer(12 + MAX_BYTES)
    this.#current = new CurrentInput(memory)
    // Flags of a test runner are not for this thread.
    this.#worker = new Worker(new URL(import.meta.url), {
      workerData: { memory, findingFile, hangMs } satisfies Watch,
      execArgv: [],
    })
  }

  /** Before each run. */
  starts(input: Uint8Array, allowedMs: number): void {
    this.#current.set(input, allowedMs)
  }

  /** After each run. */
  ends(): void {
    this.#current.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}

const data: Partial<Watch> | null = workerData
if (data?.findingFile !== undefined) watch(data as Watch) // this is the thread that the constructor above starts

function watch({ memory, findingFile, hangMs }: Watch): void {
  const current = new CurrentInput(memory)
  let seen = { number: -1, cpuMs: 0, memoryBytes: 0 }
  setInterval(() => {
    const { number } = current
    const now = { number, cpuMs: cpuMs(), memoryBytes: process.memoryUsage.rss() }
    if (number !== seen.number) {
      seen = now
    } else if (number % 2 === 1) {
      const spentMs = now.cpuMs - seen.cpuMs
      const grownBytes = now.memoryBytes - seen.memoryBytes
      if (spentMs > Math.max(hangMs, HANG_FACTOR * current.allowedMs)) {
        end(`hang: no end after ${(spentMs / 1_000).toFixed(1)} s of CPU`, current.input, findingFile)
      } else if (grownBytes > MAX_GROWTH_BYTES) {
        end(`memory: ${(grownBytes / 1024 / 1024).toFixed(0)} MiB and growing`, current.input, findingFile)
      }
    }
  }, CHECK_EVERY_MS)
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function end(problem: string, input: Uint8Array, findingFile: string): void {
  mkdirSync(dirname(findingFile), { recursive: true })
  writeFileSync(findingFile, input)
  // The streams of this thread lead through the one that is busy.
  writeSync(2, `\n${problem}, for the ${input.length} bytes in ${findingFile}; the process is ended\n`)
  process.kill(process.pid, 'SIGKILL')
}
