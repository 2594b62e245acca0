/** Finds a host that serves an image: mirrors first, then the registry itself, with retries. */
import {
  type ClientLogger,
  type Clock,
  HttpConnectionError,
  ownValue,
  type RetryPolicy,
  repeat,
  type SecretFilter,
} from '@reeve/http'
import { credentialsFor, type DockerConfig } from './docker-config.ts'
import type { ImageReference } from './image-reference.ts'
import { RegistryRefusedError } from './registry-error.ts'
import type { RegistryExecutor } from './registry-executor.ts'
import type { PlainHttp } from './registry-host.ts'
import { RegistrySession } from './registry-session.ts'

/** What bounds a call. */
export interface RegistryCallOptions {
  readonly signal?: AbortSignal
  /** For everything at one host, retries included. @default a minute */
  readonly timeoutMs?: number
}

/** The dependencies of sessions. */
export interface RegistrySessionsOptions {
  readonly credentials: DockerConfig
  /** Mirrors to try before a registry, by the name of the registry. */
  readonly mirrors: Readonly<Record<string, readonly string[]>>
  readonly plainHttp: PlainHttp
  /** How the token server knows us. */
  readonly clientId: string
  readonly executor: RegistryExecutor
  readonly clock: Clock
  readonly random: () => number
  readonly secrets: SecretFilter
  readonly policy: RetryPolicy
  readonly logger: ClientLogger | undefined
}

/** Work in a session. It must stop when the signal aborts. */
export type SessionWork<T> = (session: RegistrySession, signal: AbortSignal) => Promise<T>

const CALL_TIMEOUT_MS = 60_000
/** Repositories whose tokens are kept; the one not used for longest goes first. */
const MAX_SESSIONS = 32

/** The sessions of one client. */
export class RegistrySessions {
  readonly #options: RegistrySessionsOptions
  /** In order of last use, the longest ago first. */
  readonly #sessions = new Map<string, RegistrySession>()

  constructor(options: RegistrySessionsOptions) {
    this.#options = options
  }

  /**
   * Runs `work` at the mirrors in order, then at the registry itself, whose failure is reported. Only a host that
   * cannot be reached, fails or does not have the image is passed over: a wrong digest or password never is.
   */
  async anywhere<T>(
    { registry, repository }: Pick<ImageReference, 'registry' | 'repository'>,
    what: string,
    options: RegistryCallOptions,
    work: SessionWork<T>,
  ): Promise<T> {
    for (const mirror of ownValue(this.#options.mirrors, registry) ?? []) {
      try {
        return await this.#at(mirror, repository, what, options, 0, work)
      } catch (error) {
        options.signal?.throwIfAborted()
        if (!isMissing(error)) throw error
        this.#options.logger?.warn({ mirror, repository, reason: error.message }, 'mirror cannot serve the image')
      }
    }
    return this.#at(registry, repository, what, options, this.#options.policy.maxRetries, work)
  }

  #at<T>(
    host: string,
    repository: string,
    what: string,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: RegistryCallOptions,
    maxRetries: number,
    work: SessionWork<T>,
  ): Promise<T> {
    const { clock, random, policy } = this.#options
    const session = this.#session(host, repository)
    const refusalOf = (error: unknown) => (error instanceof RegistryRefusedError ? error : undefined)
    const bounds = { what, clock, random, timeoutMs, isRepeatable: true, refusalOf, ...(signal && { signal }) }
    return repeat({ ...bounds, policy: { ...policy, maxRetries } }, (inner) => work(session, inner))
  }

  #session(host: string, repository: string): RegistrySession {
    const key = `${host}/${repository}`
    const session = this.#sessions.get(key) ?? this.#open(host, repository)
    this.#sessions.delete(key)
    this.#sessions.set(key, session)
    const [oldest] = this.#sessions.keys()
    if (oldest !== undefined && this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest)
    return session
  }

  #open(host: string, repository: string): RegistrySession {
    const { credentials, ...options } = this.#options
    const own = credentialsFor(credentials, { registry: host, repository })
    return new RegistrySession({ ...options, host, repository, credentials: own })
  }
}

/** Whether another host may have what this one does not. */
function isMissing(error: unknown): error is Error {
  if (error instanceof HttpConnectionError) return true
  return error instanceof RegistryRefusedError && (error.status === 404 || error.status >= 500)
}
