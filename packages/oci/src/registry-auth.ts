/** Proves who we are to one repository: anonymously, by password, or by a token of the registry's own server. */
import type { Clock, SecretFilter } from '@reeve/http'
import { Type } from 'typebox'
import type { Challenge } from './challenge.ts'
import type { RegistryCredentials } from './docker-config.ts'
import { RegistryResponseError } from './registry-error.ts'
import type { RegistryExecutor } from './registry-executor.ts'

const TokenResponse = Type.Object({
  token: Type.Optional(Type.String()),
  access_token: Type.Optional(Type.String()),
  expires_in: Type.Optional(Type.Number()),
})

/** What the specification says when the server does not. */
const DEFAULT_LIFETIME_MS = 60_000
/** A token this close to its end may be over before the request arrives. */
const EXPIRY_MARGIN_MS = 5_000

/** What it takes to authenticate. */
export interface RegistryAuthOptions {
  readonly repository: string
  /** How the token server knows us. */
  readonly clientId: string
  readonly challenge: Challenge | undefined
  readonly credentials: RegistryCredentials | undefined
  readonly executor: RegistryExecutor
  readonly clock: Clock
  readonly secrets: SecretFilter
}

/** Gives the `authorization` header for one repository, and keeps tokens until they expire. */
export class RegistryAuth {
  readonly #options: RegistryAuthOptions
  #token: { readonly value: string; readonly expiresAtMs: number } | undefined

  constructor(options: RegistryAuthOptions) {
    this.#options = options
  }

  /** The value of the header, or `undefined` if none is needed. */
  async authorization(signal: AbortSignal): Promise<string | undefined> {
    const { challenge, credentials, clock } = this.#options
    if (credentials?.registryToken !== undefined) return `Bearer ${credentials.registryToken}`
    if (challenge === undefined) return undefined
    if (challenge.scheme === 'basic') return basic(credentials)
    if (this.#token === undefined || clock.now() >= this.#token.expiresAtMs) {
      this.#token = await this.#obtain(challenge, signal)
    }
    return `Bearer ${this.#token.value}`
  }

  /** Discards the token, after the registry rejected it. */
  forget(): void {
    this.#token = undefined
  }

  async #obtain(challenge: Extract<Challenge, { scheme: 'bearer' }>, signal: AbortSignal) {
    const { repository, clientId, credentials, executor, clock, secrets } = this.#options
    const name = 'registry token'
    const url = URL.parse(challenge.realm)
    if (url === null || !['https:', 'http:'].includes(url.protocol)) {
      throw new RegistryResponseError(`${name}: the registry names a token server that is not an http or https URL`)
    }
    const query = {
      ...(challenge.service !== undefined && { service: challenge.service }),
      scope: `repository:${repository}:pull`,
    }
    const { identityToken } = credentials ?? {}
    const form = { ...query, grant_type: 'refresh_token', client_id: clientId }
    if (identityToken === undefined) {
      for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
    }
    const authorization = identityToken === undefined ? basic(credentials) : undefined
    const response = await executor.json(
      TokenResponse,
      {
        name,
        url,
        headers: authorization === undefined ? {} : { authorization },
        ...(identityToken !== undefined && { form: { ...form, refresh_token: identityToken } }),
      },
      signal,
    )
    const value = response.token || response.access_token
    // A token with characters that are invalid in a header is rejected.
    if (!value || !/^[\x21-\x7e]+$/.test(value))
      throw new RegistryResponseError(`${name}: ${url.host} responded without a token`)
    secrets.add(value)
    const lifetimeMs = response.expires_in === undefined ? DEFAULT_LIFETIME_MS : response.expires_in * 1_000
    return { value, expiresAtMs: clock.now() + lifetimeMs - EXPIRY_MARGIN_MS }
  }
}

function basic({ username = '', password = '' }: RegistryCredentials = {}): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
