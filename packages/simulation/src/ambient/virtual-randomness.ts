/** `Math.random` and the random functions of `node:crypto` from the seeded source of the code under test. */
import { ambientSource } from './ambient-source.ts'

/** `Math.random`. */
export function virtualRandom(real: () => number): () => number {
  return () => (ambientSource()?.random ?? real)()
}

/** What is replaced in `node:crypto`. */
export interface RandomFunctions {
  readonly randomUUID: () => string
  /** Without a callback it returns the bytes. */
  randomBytes(size: number, callback?: (error: Error | null, bytes: Buffer) => void): Buffer | undefined
  // biome-ignore lint/suspicious/noExplicitAny: overloads with and without a callback; arguments are handed on
  readonly randomInt: (...args: any[]) => any
}

/** The functions for code under test and for all other code. */
export function virtualCrypto(real: RandomFunctions): RandomFunctions {
  const randomBytes = (size: number, callback?: (error: Error | null, bytes: Buffer) => void): Buffer | undefined => {
    const source = ambientSource()
    if (source === undefined) return real.randomBytes(size, callback)
    const bytes = bytesFrom(source.random, size)
    if (callback === undefined) return bytes
    process.nextTick(callback, null, bytes)
    return undefined
  }
  return {
    randomBytes,
    randomUUID: () => {
      const source = ambientSource()
      return source === undefined ? real.randomUUID() : uuidFrom(source.random)
    },
    randomInt: (...args: readonly unknown[]) => {
      const source = ambientSource()
      if (source === undefined) return real.randomInt(...args)
      const numbers = args.filter((arg) => typeof arg === 'number')
      const [low, high] = numbers.length > 1 ? numbers : [0, numbers[0]]
      const drawn = (low ?? 0) + Math.floor(source.random() * ((high ?? 0) - (low ?? 0)))
      const callback = args.find((arg) => typeof arg === 'function')
      if (callback === undefined) return drawn
      process.nextTick(callback as (error: Error | null, drawn: number) => void, null, drawn)
    },
  }
}

/** `crypto.getRandomValues` of the web's crypto. */
export function virtualRandomValues<T extends NodeJS.ArrayBufferView>(real: (array: T) => T): (array: T) => T {
  return (array) => {
    const source = ambientSource()
    if (source === undefined) return real(array)
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    bytes.set(bytesFrom(source.random, bytes.length))
    return array
  }
}

function bytesFrom(random: () => number, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)))
}

function uuidFrom(random: () => number): string {
  const hex = bytesFrom(random, 16).toString('hex')
  const variant = '89ab'[Math.floor(random() * 4)]
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}
