/** What tokens may do, and new tokens for gateways. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import type { ClassicApi } from './classic-api.ts'
import { TenantResponseError } from './errors.ts'

/** Scopes this operator knows. */
export const TOKEN_SCOPES = Object.freeze([
  'InstallerDownload',
  'DataExport',
  'metrics.ingest',
  'openTelemetryTrace.ingest',
  'logs.ingest',
  'settings.read',
  'settings.write',
  'activeGateTokenManagement.create',
] as const)

const LookupResponse = Type.Object({ scopes: Type.Optional(Type.Array(Type.String())) })
const CreatedToken = Type.Object({ id: Type.Optional(Type.String()), token: Type.String() })

const ACTIVE_GATE_TOKEN_LIFETIME_MS = 60 * 86_400_000

/** A new token of a gateway. */
export interface ActiveGateToken {
  /** The part that may be shown. */
  readonly id: string
  /** A secret. */
  readonly token: string
}

/** Calls about tokens. */
export class TokenCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /** The scopes of a token. It looks itself up, which needs no scope. */
  async scopes(token: string, options: CallOptions = {}): Promise<readonly string[]> {
    this.#executor.protect(token)
    const call = this.#api.call({
      name: 'token lookup',
      method: 'POST',
      path: '/v2/apiTokens/lookup',
      token: { value: token },
      body: { token },
      // A read, although it is a POST.
      isRepeatable: true,
    })
    return (await this.#executor.json(LookupResponse, call, options)).scopes ?? []
  }

  /** Creates a token for gateways of the DynaKube `name`, valid for 60 days. */
  async createForActiveGate(name: string, options: CallOptions = {}): Promise<ActiveGateToken> {
    const expires = new Date(this.#executor.clock.now() + ACTIVE_GATE_TOKEN_LIFETIME_MS)
    const expirationDate = expires.toISOString().replace(/\.\d+Z$/, 'Z')
    const call = this.#api.call({
      name: 'ActiveGate token creation',
      method: 'POST',
      path: '/v2/activeGateTokens',
      token: 'api',
      acceptsJson: true,
      body: { name, activeGateType: 'ENVIRONMENT', expirationDate, seedToken: false },
    })
    const { token } = await this.#executor.json(CreatedToken, call, options)
    const [prefix, publicPart] = token.split('.')
    // The part before the second dot is shown in a condition; without a dot that would be the secret itself.
    if (publicPart === undefined) throw new TenantResponseError(call.name, 'token has no public part')
    return { id: `${prefix}.${publicPart}`, token }
  }
}
