/** The API tokens of a tenant and what they may do. */
import type { Clock } from '@reeve/http'
import { TOKEN_SCOPES } from '../defaults.ts'
import type { TokenOptions } from '../options.ts'
import { maskToken, type RandomBytes, randomToken } from '../random-text.ts'
import { Refusal } from '../refusal.ts'
import { secretDigest } from '../secret-digest.ts'

/** An API token. */
export interface ApiToken {
  readonly name: string
  readonly value: string
  /** What may be shown of the value. */
  readonly masked: string
  readonly scopes: readonly string[]
  readonly createdMs: number
  /** Undefined until it is used. */
  readonly lastUsedMs: number | undefined
}

/** Tokens by name. Adding one under a name that exists replaces it, which is how a token is rotated. */
export class ApiTokens {
  readonly #byDigest = new Map<string, ApiToken>()
  readonly #clock: Clock
  readonly #random: RandomBytes

  constructor(clock: Clock, random: RandomBytes) {
    this.#clock = clock
    this.#random = random
  }

  /** All tokens, in the order in which they were added. */
  list(): readonly ApiToken[] {
    return [...this.#byDigest.values()]
  }

  /** The token of that name. */
  get(name: string): ApiToken | undefined {
    return this.list().find((token) => token.name === name)
  }

  /** Adds a token, or replaces the one of that name. */
  add({ name, value = randomToken(this.#random, 'dt0c01'), scopes = usualScopes(name) }: TokenOptions): ApiToken {
    this.revoke(name)
    const createdMs = this.#clock.now()
    const token = { name, value, masked: maskToken(value), scopes: [...scopes], createdMs, lastUsedMs: undefined }
    this.#byDigest.set(secretDigest(value), token)
    return token
  }

  /** Gives a token other scopes. */
  setScopes(name: string, scopes: readonly string[]): void {
    const token = this.get(name)
    if (token !== undefined) this.#byDigest.set(secretDigest(token.value), { ...token, scopes: [...scopes] })
  }

  /** From now on the token is unknown. */
  revoke(name: string): void {
    const token = this.get(name)
    if (token !== undefined) this.#byDigest.delete(secretDigest(token.value))
  }

  /** The token of that value. */
  find(value: string): ApiToken | undefined {
    return this.#byDigest.get(secretDigest(value))
  }

  /** Records that the token was used. */
  touch(token: ApiToken): void {
    const key = secretDigest(token.value)
    if (this.#byDigest.has(key)) this.#byDigest.set(key, { ...token, lastUsedMs: this.#clock.now() })
  }
}

/** *Errors*: {@link Refusal} 403 when the token has none of the scopes. */
export function requireScope(token: ApiToken, ...anyOf: readonly string[]): void {
  if (anyOf.length === 0 || anyOf.some((scope) => token.scopes.includes(scope))) return
  throw missingScope(anyOf)
}

/** The message for a token without the scopes. */
function missingScope(anyOf: readonly string[]): Refusal {
  return new Refusal(403, `Token is missing required scope. Use one of: ${anyOf.join(', ')}`)
}

function usualScopes(name: string): readonly string[] {
  if (name === 'apiToken') return TOKEN_SCOPES.apiToken
  if (name === 'paasToken') return ['InstallerDownload']
  return name === 'dataIngestToken' ? TOKEN_SCOPES.dataIngestToken : []
}
