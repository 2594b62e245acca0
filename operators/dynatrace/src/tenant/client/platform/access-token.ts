/** OAuth client credentials: an access token, kept until shortly before it expires. */
import type { SecretFilter } from '@reeve/http'
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from '../call-executor.ts'
import { TenantResponseError } from '../errors.ts'

/** The client, the endpoint and the scopes. */
export interface OAuthClient {
  /** Address of the token endpoint. */
  readonly endpoint: string
  readonly clientId: string
  /** A secret. */
  readonly clientSecret: string
  readonly scopes: readonly string[]
}

/** A token this close to its expiry may expire before the call arrives. */
const EXPIRY_MARGIN_MS = 10_000

const Text = Type.Optional(Type.String())
const Response = Type.Object({
  access_token: Text,
  token_type: Text,
  expires_in: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^\\d+$' })])),
  error: Text,
  error_description: Text,
})

interface CurrentToken {
  readonly authorization: string
  readonly expiresAtMs: number
}

/**
 * Gives the value of the `authorization` header.
 *
 * Credentials go in a Basic header first; if that fails in any way, in the body, as some servers accept only one.
 */
export class AccessTokens {
  readonly #client: OAuthClient
  readonly #executor: CallExecutor
  readonly #secrets: SecretFilter
  #current: CurrentToken | undefined

  /** @param secrets learns every token, so that no message shows one */
  constructor(client: OAuthClient, executor: CallExecutor, secrets: SecretFilter) {
    this.#client = client
    this.#executor = executor
    this.#secrets = secrets
  }

  /** A valid header value, obtained now if need be. */
  async authorization(options: CallOptions = {}): Promise<string> {
    const current = this.#current
    if (current !== undefined && this.#executor.clock.now() < current.expiresAtMs) return current.authorization
    const obtained = await this.#obtain(options)
    this.#current = obtained
    return obtained.authorization
  }

  /** Drops the token, after a server rejected it. */
  forget(): void {
    this.#current = undefined
  }

  async #obtain(options: CallOptions): Promise<CurrentToken> {
    const { clientId, clientSecret } = this.#client
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
    const basic = `Basic ${Buffer.from(pair).toString('base64')}`
    try {
      return await this.#request({}, basic, options)
    } catch {
      options.signal?.throwIfAborted()
      // If the cause was not the authentication method, the second one fails for the same reason, and reports it.
      return this.#request({ client_id: clientId, client_secret: clientSecret }, undefined, options)
    }
  }

  async #request(
    credentials: Readonly<Record<string, string>>,
    authorization: string | undefined,
    options: CallOptions,
  ): Promise<CurrentToken> {
    const name = 'access token'
    const form = { ...credentials, grant_type: 'client_credentials', scope: this.#client.scopes.join(' ') }
    const response = await this.#executor.json(
      Response,
      {
        name,
        method: 'POST',
        url: new URL(this.#client.endpoint),
        ...(authorization !== undefined && { authorization }),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
        // An unused token is harmless.
        isRepeatable: true,
        success: [200, 201, 202, 203],
      },
      options,
    )
    const {
      access_token: token,
      token_type: type = '',
      expires_in: expiresIn,
      error,
      error_description = '',
    } = response
    if (error) throw new TenantResponseError(name, this.#secrets.clean(`${error} ${error_description}`.trimEnd()))
    if (!token) throw new TenantResponseError(name, 'access_token is missing')
    this.#secrets.add(token)
    const scheme = type === '' || type.toLowerCase() === 'bearer' ? 'Bearer' : type
    const lifetimeMs = expiresIn === undefined ? Number.POSITIVE_INFINITY : Number(expiresIn) * 1_000 - EXPIRY_MARGIN_MS
    return { authorization: `${scheme} ${token}`, expiresAtMs: this.#executor.clock.now() + lifetimeMs }
  }
}
