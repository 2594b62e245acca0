/** The way to the disk for code under exploration: each change is a call to the outside world. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, lstatSync, utimesSync } from 'node:fs'
import { relative } from 'node:path'
import type { Clock } from '@reeve/http'
import type { OutsideCall } from '@reeve/simulation'

/** What a {@link FileSeam} needs. */
export interface FileSeamOptions {
  /** The directory that operations are named relative to. */
  readonly root: string
  readonly call: OutsideCall
  readonly clock: Clock
  /** Called after each change, with the paths that it concerns. */
  readonly onChange: (paths: readonly string[]) => void
}

const seams = new AsyncLocalStorage<FileSeam>()

/** The libraries of an agent are alike: a crash between two of them shows nothing that one before them does not. */
const ALIKE = /\/liboneagent\w+\.so$/

/**
 * Changes of one process. Every file system function that the process calls runs synchronously, so that no real time
 * passes, and every change goes through the exploration, which may kill the process before and after it.
 */
export class FileSeam {
  readonly #options: FileSeamOptions
  readonly #open = new Map<number, string>()

  constructor(options: FileSeamOptions) {
    this.#options = options
  }

  /** The seam of the code that runs now; `undefined` for code that is not explored. */
  static get current(): FileSeam | undefined {
    return seams.getStore()
  }

  /** Runs `action`, and everything that it starts, through this seam. */
  run<R>(action: () => R): R {
    return seams.run(this, action)
  }

  /** Makes one change, of `path` and perhaps of `others`. */
  async change<R>(verb: string, path: string, act: () => R, ...others: readonly string[]): Promise<R> {
    const { root, call, onChange } = this.#options
    const make = () => {
      const result = act()
      onChange([path, ...others])
      return result
    }
    return ALIKE.test(path) ? make() : call(`${verb} ${relative(root, path)}`, make)
  }

  /** Gives a new file or directory the virtual time. */
  stamp(path: string): void {
    const seconds = this.#options.clock.now() / 1_000
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) utimesSync(path, seconds, seconds)
  }

  /** Remembers an open file; returns its descriptor. */
  opened(descriptor: number, path: string): number {
    this.#open.set(descriptor, path)
    return descriptor
  }

  /** The path of an open file. */
  pathOf(descriptor: number): string {
    return this.#open.get(descriptor) ?? ''
  }

  /** Closes a file. */
  close(descriptor: number): void {
    if (this.#open.delete(descriptor)) closeSync(descriptor)
  }

  /** Closes what a killed process had open. */
  closeAll(): void {
    for (const descriptor of [...this.#open.keys()]) this.close(descriptor)
  }
}
