/** The OAuth clients of a tenant and the access tokens they were given. */
import type { Clock } from '@reeve/http'
import { BoundedMap } from '../../../bounded-map.ts'
import { OAUTH_SCOPES, STATE_LIMITS, TENANT_DEFAULTS } from '../defaults.ts'
import type { OAuthClientOptions } from '../options.ts'
import { publicPart, type RandomBytes, randomText, randomToken } from '../random-text.ts'
import { Refusal } from '../refusal.ts'
import { secretDigest } from '../secret-digest.ts'

/** A client. */
export interface OAuthClient {
  readonly id: string
  readonly secret: string
  readonly scopes: readonly string[]
}

/** What an access token stands for. */
export interface AccessGrant {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly expiresMs: number
}

/** What a client is given. */
export interface IssuedAccess {
  readonly accessToken: string
  readonly grant: AccessGrant
}

/** Clients exchange their secret for tokens that live for five minutes. */
export class OAuthClients {
  readonly #clients = new Map<string, OAuthClient>()
  readonly #grants = new BoundedMap<string, AccessGrant>(STATE_LIMITS.accessTokens)
  readonly #clock: Clock
  readonly #random: RandomBytes
  /** How long access tokens live from now on. */
  lifetimeMs: number = TENANT_DEFAULTS.accessTokenLifetimeMs

  constructor(clock: Clock, random: RandomBytes) {
    this.#clock = clock
    this.#random = random
  }

  list(): readonly OAuthClient[] {
    return [...this.#clients.values()]
  }

  get(id: string): OAuthClient | undefined {
    return this.#clients.get(id)
  }

  /** Adds a client; what is left out is made up. */
  add({ id, secret, scopes = OAUTH_SCOPES }: Partial<OAuthClientOptions> = {}): OAuthClient {
    const generated = randomToken(this.#random, 'dt0s02')
    // The id of a generated client is the public part of its secret.
    const client = {
      id: id ?? publicPart(generated) ?? '',
      secret: secret ?? generated,
      scopes: [...scopes],
    }
    this.#clients.set(client.id, client)
    return client
  }

  /** The client is unknown from now on, and so are its tokens. */
  remove(id: string): void {
    this.#clients.delete(id)
  }

  /** *Errors*: 401 `invalid_client`, 400 `invalid_scope`. Without a scope, all scopes of the client. */
  exchange(id: string, secret: string, wanted: readonly string[]): IssuedAccess {
    const client = this.#clients.get(id)
    if (client === undefined || secretDigest(client.secret) !== secretDigest(secret)) {
      throw new Refusal(401, 'Client authentication failed.', { reason: 'invalid_client' })
    }
    const refused = wanted.filter((scope) => !client.scopes.includes(scope))
    if (refused.length > 0) {
      throw new Refusal(400, `The client may not request: ${refused.join(' ')}`, { reason: 'invalid_scope' })
    }
    const scopes = wanted.length === 0 ? client.scopes : wanted
    const grant = { clientId: id, scopes, expiresMs: this.#clock.now() + this.lifetimeMs }
    const accessToken = randomText(this.#random, 96)
    this.#grants.set(secretDigest(accessToken), grant)
    return { accessToken, grant }
  }

  /** The grant of an access token; undefined if it is unknown, has expired or its client was deleted. */
  grant(accessToken: string): AccessGrant | undefined {
    const grant = this.#grants.get(secretDigest(accessToken))
    if (grant === undefined || grant.expiresMs <= this.#clock.now()) return undefined
    return this.#clients.has(grant.clientId) ? grant : undefined
  }
}
