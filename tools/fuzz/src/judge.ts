/** Runs a parser on one input and judges what it did: crashes, time, memory, side effects. */
import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Watchdog } from './watchdog.ts'

/** CPU time that an input may take: no input is too slow for a full garbage collection or a cold function. */
const FLOOR_MS = 250
const MS_PER_KIB = 100

/** Memory that an input may take. */
const FLOOR_MEMORY_BYTES = 48 * 1024 * 1024
const MEMORY_BYTES_PER_BYTE = 2_048

/** Whoever changes a prototype of theirs changes all other objects. */
const SHARED: readonly { readonly name: string; readonly prototype: object }[] = [Object, Array, Function, String]

/** What is wrong with a run that did not throw. */
export class JudgementError extends Error {
  override readonly name = 'JudgementError'
  readonly code = 'FUZZ_JUDGEMENT'
}

/**
 * Judges runs in the thread it lives in; the watchdog ends the process when one does not return.
 *
 * *Guarantee*: time and memory are complaints only when a second and a third run confirm them.
 */
export class Judge implements Disposable {
  readonly #run: (input: Uint8Array) => unknown
  readonly #watchdog: Watchdog
  readonly #known = SHARED.map(({ name, prototype }) => ({ name, prototype, members: membersOf(prototype) }))
  readonly #warnings: Error[] = []
  readonly #onWarning = (warning: Error) => this.#warnings.push(warning)

  constructor(run: (input: Uint8Array) => unknown, watchdog: Watchdog) {
    this.#run = run
    this.#watchdog = watchdog
    process.on('warning', this.#onWarning)
  }

  [Symbol.dispose](): void {
    process.off('warning', this.#onWarning)
  }

  /** *Errors*: what the run throws, or {@link JudgementError}. */
  async judge(input: Uint8Array): Promise<void> {
    const maxMs = Math.max(FLOOR_MS, (input.length / 1024) * MS_PER_KIB)
    const maxBytes = FLOOR_MEMORY_BYTES + input.length * MEMORY_BYTES_PER_BYTE
    let cpuMs = Number.POSITIVE_INFINITY
    let memoryBytes = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (attempt > 0) collectGarbage()
      const measured = await this.#measure(input, maxMs)
      cpuMs = Math.min(cpuMs, measured.cpuMs)
      memoryBytes = Math.min(memoryBytes, measured.memoryBytes)
      if (cpuMs <= maxMs && memoryBytes <= maxBytes) return
    }
    throw new JudgementError(
      cpuMs > maxMs
        ? `slow: ${cpuMs.toFixed(0)} ms of CPU for ${input.length} bytes; ${maxMs.toFixed(0)} ms are allowed`
        : `memory: ${mebibytes(memoryBytes)} for ${input.length} bytes; ${mebibytes(maxBytes)} are allowed`,
    )
  }

  async #measure(input: Uint8Array, maxMs: number): Promise<{ readonly cpuMs: number; readonly memoryBytes: number }> {
    this.#watchdog.starts(input, maxMs)
    const memoryBefore = memoryInUse()
    const cpuBefore = process.threadCpuUsage()
    try {
      await this.#run(input)
    } finally {
      this.#watchdog.ends()
    }
    const { user, system } = process.threadCpuUsage(cpuBefore)
    const measured = { cpuMs: (user + system) / 1_000, memoryBytes: memoryInUse() - memoryBefore }
    this.#checkPrototypes()
    // Warnings come with the next tick. On the standard error of an operator, they would fill its log.
    await setImmediate()
    const warning = this.#warnings.pop()
    if (warning !== undefined) throw new JudgementError(`warning: ${warning.message}`, { cause: warning })
    return measured
  }

  /** Repairs what was changed, so that only the input that did it is blamed. */
  #checkPrototypes(): void {
    const changed: string[] = []
    for (const { name, prototype, members } of this.#known) {
      const now = membersOf(prototype)
      for (const key of new Set([...members.keys(), ...now.keys()])) {
        const [known, found] = [members.get(key), now.get(key)]
        if (known?.value === found?.value && known?.get === found?.get) continue
        changed.push(`${name}.prototype.${String(key)}`)
        if (known === undefined) Reflect.deleteProperty(prototype, key)
        else Object.defineProperty(prototype, key, known)
      }
    }
    if (changed.length > 0) throw new JudgementError(`pollution: ${changed.join(', ')} changed`)
  }
}

function membersOf(prototype: object): ReadonlyMap<string | symbol, PropertyDescriptor | undefined> {
  return new Map(Reflect.ownKeys(prototype).map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key)]))
}

/** Collects garbage, so that the next measurement is not affected by it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Memory in use by this thread, garbage included. */
export function memoryInUse(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}

/**
 * A size for people.
 *
 * @example
 * mebibytes(1_572_864) // 1.5 MiB
 */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
