/** Puts the functions of a {@link FileSeam} in the place of Node's own, for as long as a world needs them. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Transform } from 'node:stream'
import { gunzipSync, inflateRawSync } from 'node:zlib'
// Otherwise loaded by the first archive, during which real time would pass.
import 'tar'
import 'yauzl'
import { FILE_FUNCTIONS } from './file-functions.ts'
import { FileSeam } from './file-seam.ts'

const require = createRequire(import.meta.url)

/** A builtin module, whose functions can be replaced. */
// biome-ignore lint/suspicious/noExplicitAny: a module has functions of every kind
type Functions = Record<string, (...args: any[]) => any>

/**
 * Replaces `node:fs/promises`, and what `yauzl` and `node:zlib` do in threads of the process, for code inside a seam.
 * Other code sees no difference. The originals belong to the process, so there is one of these, and it counts the worlds.
 */
class FilePatch {
  #users = 0
  readonly #undo: (() => void)[] = []

  acquire(): void {
    if (this.#users++ > 0) return
    this.#replacePromises(require('node:fs/promises') as Functions)
    this.#replaceCallbacks(require('node:fs') as Functions)
    const zlib = require('node:zlib') as Functions
    this.#replace(zlib, 'createInflateRaw', () => () => inSync(inflateRawSync))
    this.#replace(zlib, 'createGunzip', () => () => inSync(gunzipSync))
    syncBuiltinESMExports()
  }

  release(): void {
    if (--this.#users > 0) return
    for (const undo of this.#undo.splice(0)) undo()
    syncBuiltinESMExports()
  }

  #replacePromises(promises: Functions): void {
    for (const name of Object.keys(promises).filter((key) => typeof promises[key] === 'function')) {
      const replaced = FILE_FUNCTIONS[name]
      this.#replace(promises, name, (seam) => (...args) => {
        // What is not described would take real time, and happen unseen.
        if (replaced === undefined) throw new Error(`${name} of node:fs/promises is unknown to the exploration`)
        return replaced(seam, ...args)
      })
    }
  }

  /** Of the functions with a callback, those that read archives. */
  #replaceCallbacks(fs: Functions): void {
    const { openSync, readSync, fstatSync } = fs
    const functions: Functions = {
      open: (seam: FileSeam, path: string, flags: string) => seam.opened(openSync?.(path, flags), path),
      read: (_, ...args) => readSync?.(...args),
      fstat: (_, descriptor: number) => fstatSync?.(descriptor),
      close: (seam: FileSeam, descriptor: number) => seam.close(descriptor),
    }
    for (const [name, act] of Object.entries(functions)) {
      this.#replace(fs, name, (seam) => (...args) => {
        const callback = args.pop()
        try {
          process.nextTick(callback, null, act(seam, ...args))
        } catch (error) {
          process.nextTick(callback, error)
        }
      })
    }
  }

  #replace(target: Functions, name: string, inSeam: (seam: FileSeam) => Functions[string]): void {
    const original = target[name]
    const before = Object.getOwnPropertyDescriptor(target, name)
    if (original === undefined || before === undefined) return
    const value: Functions[string] = (...args) => {
      const seam = FileSeam.current
      return seam === undefined ? original(...args) : inSeam(seam)(...args)
    }
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true })
    this.#undo.push(() => Object.defineProperty(target, name, before))
  }
}

/** Decompresses at the end of its input, without a thread. */
function inSync(decompress: (packed: Buffer) => Buffer): Transform {
  const chunks: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(Buffer.from(chunk))
      done()
    },
    flush(done) {
      try {
        done(null, decompress(Buffer.concat(chunks)))
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)))
      }
    },
  })
}

/** Of the process. */
export const filePatch = new FilePatch()
