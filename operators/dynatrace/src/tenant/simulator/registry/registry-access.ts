/** Who may pull which image. */
import type { Clock } from '@reeve/http'
import { BoundedMap } from '../../../bounded-map.ts'
import { STATE_LIMITS } from '../defaults.ts'
import type { Call } from '../http/call.ts'
import type { RegistryOptions } from '../options.ts'
import { type RandomBytes, randomText } from '../random-text.ts'
import { Refusal } from '../refusal.ts'
import { secretDigest } from '../secret-digest.ts'
import type { TenantState } from '../state/tenant-state.ts'

/** Where clients of the registry get their tokens. */
export const REGISTRY_TOKEN_PATH = '/registry/token'

const LIFETIME_MS = 300_000

/** Repositories below this allow pulls with a token that needs no password. */
const PUBLIC = 'dynatrace/'

interface PullGrant {
  readonly repositories: readonly string[]
  readonly expiresMs: number
}

/** Checks credentials: user and password of a tenant, or the tokens that were issued for them. */
export class RegistryAccess {
  readonly #grants = new BoundedMap<string, PullGrant>(STATE_LIMITS.accessTokens)
  readonly #tenants: ReadonlyMap<string, TenantState>
  readonly #clock: Clock
  readonly #random: RandomBytes
  /** How clients have to show who they are, from now on. */
  auth: NonNullable<RegistryOptions['auth']>

  constructor(
    tenants: ReadonlyMap<string, TenantState>,
    auth: NonNullable<RegistryOptions['auth']>,
    { clock, random }: { readonly clock: Clock; readonly random: RandomBytes },
  ) {
    this.#tenants = tenants
    this.auth = auth
    this.#clock = clock
    this.#random = random
  }

  /** *Errors*: 401 with a challenge; 403 when authentication would not help. */
  require(call: Call, repository: string | undefined): void {
    if (this.auth === 'none') return
    const { credentials } = call
    if (this.auth === 'basic') {
      if (this.#userOf(call) !== undefined) return
      throw unauthorized('Basic realm="simulator"')
    }
    const scope = repository === undefined ? '' : `,scope="repository:${repository}:pull"`
    const challenge = `Bearer realm="https://${call.host}${REGISTRY_TOKEN_PATH}",service="simulator"${scope}`
    const grant = credentials?.scheme === 'bearer' ? this.#grants.get(secretDigest(credentials.value)) : undefined
    if (grant === undefined || grant.expiresMs <= this.#clock.now()) throw unauthorized(challenge)
    if (repository !== undefined && !grant.repositories.includes(repository)) throw unauthorized(challenge)
  }

  /**
   * A token for the requested scopes that are allowed.
   *
   * *Errors*: 401 when a password was given and is wrong. Without a password public images may be pulled.
   */
  issue(call: Call, scopes: readonly string[]): { readonly token: string; readonly expiresInSeconds: number } {
    const isKnown = this.#userOf(call) !== undefined
    if (!isKnown && call.credentials !== undefined) throw unauthorized('Basic realm="simulator"')
    const wanted = scopes.flatMap((scope) => /^repository:(.+):[^:]*pull[^:]*$/.exec(scope)?.[1] ?? [])
    const repositories = wanted.filter((repository) => isKnown || repository.startsWith(PUBLIC))
    const token = randomText(this.#random, 64)
    this.#grants.set(secretDigest(token), { repositories, expiresMs: this.#clock.now() + LIFETIME_MS })
    return { token, expiresInSeconds: LIFETIME_MS / 1_000 }
  }

  /** The tenant whose id is the user and one of whose tokens for installers is the password. */
  #userOf(call: Call): TenantState | undefined {
    const { credentials } = call
    if (credentials?.scheme !== 'basic') return undefined
    const [user = '', ...rest] = Buffer.from(credentials.value, 'base64').toString().split(':')
    const tenant = this.#tenants.get(user)
    const token = tenant?.tokens.find(rest.join(':'))
    if (tenant === undefined || token?.scopes.includes('InstallerDownload') !== true) return undefined
    call.tenant = tenant
    call.tokenName = token.name
    return tenant
  }
}

function unauthorized(challenge: string): Refusal {
  return new Refusal(401, 'authentication required', {
    reason: 'UNAUTHORIZED',
    headers: { 'www-authenticate': challenge, 'docker-distribution-api-version': 'registry/2.0' },
  })
}
