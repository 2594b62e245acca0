/** Browsers that have shown a token: each has a cookie, and its token is checked again on every request. */
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@reeve/http'
import { CONSOLE_LIMITS } from '../limits.ts'

interface Session {
  /** Not written anywhere; needed to notice that it expired or lost its rights. */
  readonly token: string
  usedMs: number
}

/**
 * Sessions by cookie.
 *
 * *Guarantees*: at most a few; those that were not used for long end; only digests of cookies are kept.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Begins a session, and returns the value of its cookie. */
  begin(token: string): string {
    const value = randomBytes(24).toString('base64url')
    this.#sessions.set(digest(value), { token, usedMs: this.#clock.now() })
    if (this.#sessions.size > CONSOLE_LIMITS.sessions) this.#endOldest()
    return value
  }

  /** The token of a session that is in progress. */
  tokenOf(cookie: string): string | undefined {
    const id = digest(cookie)
    const session = this.#sessions.get(id)
    if (session === undefined) return undefined
    const nowMs = this.#clock.now()
    if (nowMs - session.usedMs > CONSOLE_LIMITS.sessionIdleMs) {
      this.#sessions.delete(id)
      return undefined
    }
    session.usedMs = nowMs
    return session.token
  }

  end(cookie: string): void {
    this.#sessions.delete(digest(cookie))
  }

  #endOldest(): void {
    const byUse = [...this.#sessions].toSorted(([, one], [, other]) => one.usedMs - other.usedMs)
    const [oldest] = byUse[0] ?? []
    if (oldest !== undefined) this.#sessions.delete(oldest)
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
