/** The tokens with which ActiveGates join a tenant. */
import type { Clock } from '@reeve/http'
import { BoundedMap } from '../../../bounded-map.ts'
import { STATE_LIMITS } from '../defaults.ts'
import { publicPart, type RandomBytes, randomToken } from '../random-text.ts'
import { violation } from '../refusal.ts'

/** A token that was issued, without its secret part. */
export interface ActiveGateToken {
  readonly id: string
  readonly name: string
  readonly activeGateType: string
  readonly createdMs: number
  readonly expiresMs: number
}

/** Issues tokens and records their gateway. */
export class ActiveGateTokens {
  readonly #issued = new BoundedMap<string, ActiveGateToken>(STATE_LIMITS.activeGateTokens)
  readonly #clock: Clock
  readonly #random: RandomBytes

  constructor(clock: Clock, random: RandomBytes) {
    this.#clock = clock
    this.#random = random
  }

  /** What was issued, the oldest first. */
  list(): readonly ActiveGateToken[] {
    return this.#issued.values()
  }

  /** *Errors*: 400 naming what is wrong with the request. */
  issue(request: Readonly<Record<string, unknown>>): {
    readonly id: string
    readonly token: string
    readonly expirationDate: string
  } {
    const { name, activeGateType, expirationDate, seedToken = false } = request
    if (typeof name !== 'string' || name === '') throw violation('PAYLOAD_BODY', 'name', 'must not be empty')
    if (activeGateType !== 'ENVIRONMENT' && activeGateType !== 'CLUSTER') {
      throw violation('PAYLOAD_BODY', 'activeGateType', 'must be ENVIRONMENT or CLUSTER')
    }
    if (typeof seedToken !== 'boolean') throw violation('PAYLOAD_BODY', 'seedToken', 'must be a boolean')
    const createdMs = this.#clock.now()
    const expiresMs = expiryOf(expirationDate, createdMs)
    const token = randomToken(this.#random, 'dt0g02')
    const id = publicPart(token) ?? ''
    this.#issued.set(id, { id, name, activeGateType, createdMs, expiresMs })
    return { id, token, expirationDate: new Date(expiresMs).toISOString() }
  }
}

/** Without a date a token lives for a year. */
const DEFAULT_LIFETIME_MS = 365 * 86_400_000

function expiryOf(date: unknown, nowMs: number): number {
  if (date === undefined || date === null) return nowMs + DEFAULT_LIFETIME_MS
  const expiresMs = typeof date === 'string' && /^\d{4}-\d\d-\d\dT/.test(date) ? Date.parse(date) : Number.NaN
  if (Number.isNaN(expiresMs)) throw violation('PAYLOAD_BODY', 'expirationDate', 'must be a date and time')
  if (expiresMs <= nowMs) throw violation('PAYLOAD_BODY', 'expirationDate', 'must be in the future')
  return expiresMs
}
