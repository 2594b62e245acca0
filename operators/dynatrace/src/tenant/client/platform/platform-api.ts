/** Calls of the platform API: addresses below the API server, with an access token. */
import type { Static, TSchema } from 'typebox'
import type { Call, CallExecutor, CallOptions } from '../call-executor.ts'
import { refusalOf } from '../errors.ts'
import type { AccessTokens } from './access-token.ts'

/** How a call differs from a plain GET. */
export interface PlatformCall extends Pick<Call, 'name' | 'success'> {
  /** @default 'GET' */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With its query. */
  readonly path: string
  /** Becomes JSON. */
  readonly body?: unknown
}

/** Sends calls to one API server. */
export class PlatformApi {
  readonly #base: string
  readonly #executor: CallExecutor
  readonly #tokens: AccessTokens

  /** @param apiServer host, possibly with a port; the scheme is always https */
  constructor(apiServer: string, executor: CallExecutor, tokens: AccessTokens) {
    this.#base = `https://${apiServer}`
    this.#executor = executor
    this.#tokens = tokens
  }

  /** From now on this value is removed from everything that the server says, because it is about to be sent. */
  protect(secret: string): void {
    this.#executor.protect(secret)
  }

  /** The response, which matches `schema`. */
  json<S extends TSchema>(schema: S, call: PlatformCall, options: CallOptions = {}): Promise<Static<S>> {
    return this.#authorized(call, options, (authorized) => this.#executor.json(schema, authorized, options))
  }

  /** Waits for success. */
  done(call: PlatformCall, options: CallOptions = {}): Promise<void> {
    return this.#authorized(call, options, (authorized) => this.#executor.done(authorized, options))
  }

  async #authorized<T>(call: PlatformCall, options: CallOptions, send: (call: Call) => Promise<T>): Promise<T> {
    const { name, method = 'GET', path, body, success } = call
    const authorization = await this.#tokens.authorization(options)
    try {
      return await send({
        name,
        method,
        url: new URL(`${this.#base}${path}`),
        authorization,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        // A DELETE that is repeated finds nothing the second time, which would be reported as a failure.
        isRepeatable: method === 'GET' || method === 'PUT',
        ...(success !== undefined && { success }),
      })
    } catch (error) {
      // The token was revoked early: the next call gets a new one.
      if (refusalOf(error)?.status === 401) this.#tokens.forget()
      throw error
    }
  }
}
