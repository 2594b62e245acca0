/** Identifiers and secrets from random bytes. */
import { randomBytes } from 'node:crypto'

/** A source of random bytes; a seeded one makes a simulator repeatable. */
export type RandomBytes = (sizeBytes: number) => Uint8Array

/** Unpredictable bytes. */
export const systemRandom: RandomBytes = (sizeBytes) => randomBytes(sizeBytes)

/** The letters of Dynatrace tokens. 32 of them, so that a byte picks one without favouring any. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Upper-case letters and digits. */
export function randomText(random: RandomBytes, length: number): string {
  return Array.from(random(length), (byte) => LETTERS[byte % LETTERS.length]).join('')
}

/** Hexadecimal digits, in capitals as in the identifiers of entities. */
export function randomHex(random: RandomBytes, length: number): string {
  return Buffer.from(random(Math.ceil(length / 2)))
    .toString('hex')
    .slice(0, length)
    .toUpperCase()
}

/** A UUID of version 4. */
export function randomUuid(random: RandomBytes): string {
  const bytes = Buffer.from(random(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** A token of the form `dt0c01.<public>.<secret>`; the public part names it. */
export function randomToken(random: RandomBytes, prefix: string): string {
  return `${prefix}.${randomText(random, 24)}.${randomText(random, 64)}`
}

/** The part of a token that identifies it and is not secret; undefined when it has none. */
export function publicPart(token: string): string | undefined {
  return /^(dt0[a-z]\d\d\.[^.]+)\../.exec(token)?.[1]
}

/** What may be shown of a token. */
export function maskToken(token: string): string {
  const shown = publicPart(token)
  return shown === undefined ? '••••••' : `${shown}.••••••`
}
