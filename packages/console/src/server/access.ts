/** Who may open the console: holders of a random token on the own machine, or accounts that the API server allows. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Decides about tokens. */
export interface ConsoleAccess {
  /** 200: allowed. 401: not a valid token. 403: valid, but not allowed. 503: not decided. */
  check(token: string, signal?: AbortSignal): Promise<200 | 401 | 403 | 503>
  /** For people without a token: what to do. */
  readonly hint: string
}

/** The path whose `get` is allowed or not: grant it as a non-resource URL. */
const CONSOLE_PATH = '/console'

/** One token for the lifetime of the process, for a console on a loopback address. */
export class LocalAccess implements ConsoleAccess {
  readonly token: string
  readonly hint = 'open the link that the operator printed when it started'
  readonly #digest: Buffer

  constructor(token = randomBytes(24).toString('base64url')) {
    this.token = token
    this.#digest = digest(token)
  }

  async check(token: string): Promise<200 | 401> {
    // Digests have the same length, so the comparison takes the same time for every token.
    return timingSafeEqual(digest(token), this.#digest) ? 200 : 401
  }
}

/** What is used of the guard of `/metrics`, which asks the API server and remembers its decisions. */
export interface TokenGuard {
  authorize(header: string, path: string, signal?: AbortSignal): Promise<200 | 401 | 403 | 503>
}

/** Tokens of Kubernetes accounts: TokenReview and SubjectAccessReview. */
export class ClusterAccess implements ConsoleAccess {
  readonly hint =
    'enter the token of an account that may get the non-resource URL /console, such as from: kubectl create token <account>'
  readonly #guard: TokenGuard

  constructor(guard: TokenGuard) {
    this.#guard = guard
  }

  check(token: string, signal?: AbortSignal): Promise<200 | 401 | 403 | 503> {
    return this.#guard.authorize(`Bearer ${token}`, CONSOLE_PATH, signal)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
