/** The classic tenant API: addresses below `apiUrl`, and which of the two tokens a call is sent with. */
import type { Call } from './call-executor.ts'
import { TenantCallError } from './errors.ts'

/** The tokens of a tenant. */
export interface TenantTokens {
  /** Key `apiToken` of the token secret. */
  readonly api: string
  /** Key `paasToken`; absent or empty: the API token is used in its place. */
  readonly paas?: string
}

/** How a call differs from a plain GET. */
export interface ClassicCall extends Pick<Call, 'name' | 'success' | 'refusalForm' | 'countsAsUnavailable'> {
  /** @default 'GET' */
  readonly method?: 'GET' | 'POST'
  /** Below the base, with its query. */
  readonly path: string
  readonly token: keyof TenantTokens | { readonly value: string }
  /** `accept: application/json` is only sent where it always was. @default false */
  readonly acceptsJson?: boolean
  /** Becomes JSON. */
  readonly body?: unknown
  /** @default true when there is a body */
  readonly declaresJson?: boolean
  /** @default true for GET */
  readonly isRepeatable?: boolean
}

/** Makes calls of one tenant. */
export class ClassicApi {
  readonly #base: string
  readonly #tokens: TenantTokens

  /** @param apiUrl with the path that all calls begin with, such as `https://tenant.example.com/api` */
  constructor(apiUrl: string, tokens: TenantTokens) {
    this.#base = apiUrl.replace(/\/$/, '')
    this.#tokens = tokens
    const protocol = URL.parse(this.#base)?.protocol
    if (protocol !== 'https:' && protocol !== 'http:') {
      throw new TenantCallError('tenant', 'apiUrl is not a web address; set it to https://…/api')
    }
  }

  /** The complete call. Throws {@link TenantCallError} when its token is missing: it could only fail. */
  call(classic: ClassicCall): Call {
    const { name, method = 'GET', path, acceptsJson = false, body, isRepeatable = method === 'GET' } = classic
    const token = this.#token(classic.token)
    if (token === '' && typeof classic.token === 'string') {
      throw new TenantCallError(name, 'the token is missing; add apiToken to the token Secret')
    }
    return {
      ...pickDefined(classic),
      name,
      method,
      url: new URL(`${this.#base}${path}`),
      authorization: `Api-Token ${token}`,
      headers: {
        ...(acceptsJson && { accept: 'application/json' }),
        ...((classic.declaresJson ?? body !== undefined) && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      isRepeatable,
    }
  }

  #token(token: ClassicCall['token']): string {
    if (typeof token === 'object') return token.value
    return token === 'paas' ? this.#tokens.paas || this.#tokens.api : this.#tokens.api
  }
}

function pickDefined({ success, refusalForm, countsAsUnavailable }: ClassicCall) {
  return {
    ...(success !== undefined && { success }),
    ...(refusalForm !== undefined && { refusalForm }),
    ...(countsAsUnavailable !== undefined && { countsAsUnavailable }),
  }
}

/** A query in the alphabetical order of its keys, form-encoded. */
export function sortedQuery(parameters: Readonly<Record<string, string>>): string {
  return `?${new URLSearchParams(Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`
}
