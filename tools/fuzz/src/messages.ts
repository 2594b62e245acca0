/** Messages between the supervisor and its thread. */
import type { Progress, Search, SearchResult } from './fuzz-loop.ts'
import type { Bounds, Problem, Verdict } from './judge.ts'

/** From the supervisor. */
export type Task =
  | { readonly type: 'fuzz'; readonly path: string; readonly search: Search }
  | { readonly type: 'judge'; readonly path: string; readonly input: Uint8Array; readonly bounds: Bounds }
  | { readonly type: 'stop' }

/** From the thread. */
export type Report =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'learned'; readonly input: Uint8Array; readonly outcome: string }
  | { readonly type: 'found'; readonly problem: Problem; readonly input: Uint8Array }
  | { readonly type: 'searched'; readonly result: SearchResult }
  | { readonly type: 'judged'; readonly verdict: Verdict }
  | { readonly type: 'failed'; readonly message: string }

/**
 * The input that a thread works on, in memory that both sides see: a thread that hangs or dies cannot say what it was
 * given.
 */
export class CurrentInput {
  readonly memory: SharedArrayBuffer
  readonly #header: Int32Array
  readonly #bytes: Uint8Array

  constructor(memory = new SharedArrayBuffer(8 + 1024 * 1024)) {
    this.memory = memory
    this.#header = new Int32Array(memory, 0, 2)
    this.#bytes = new Uint8Array(memory, 8)
  }

  /** Counts the inputs. */
  get number(): number {
    return Atomics.load(this.#header, 0)
  }

  get input(): Uint8Array {
    return this.#bytes.slice(0, Atomics.load(this.#header, 1))
  }

  set input(input: Uint8Array) {
    const kept = input.subarray(0, this.#bytes.length)
    this.#bytes.set(kept)
    Atomics.store(this.#header, 1, kept.length)
    Atomics.add(this.#header, 0, 1)
  }
}
