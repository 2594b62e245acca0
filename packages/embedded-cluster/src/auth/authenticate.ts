/** Authenticates a request by client certificate, bearer token or as anonymous; then applies impersonation. */
import { createHash } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import {
  AUTHENTICATED_GROUP,
  anonymousUser,
  authenticated,
  parseServiceAccountUsername,
  serviceAccountGroups,
  UNAUTHENTICATED_GROUP,
  type UserInfo,
} from '../api/user.ts'
import { StatusError } from '../status-error.ts'
import { type Authorizer, forbidden, type ResourceAccess } from './authorizer.ts'

/** Verifies a bearer token; `undefined` if it does not recognize it. */
export type TokenVerifier = (token: string) => UserInfo | undefined

/** The accepted credentials. */
export interface AuthenticatorOptions {
  /** Static tokens and their users. @default none */
  readonly tokens?: ReadonlyMap<string, UserInfo>
  /** Called in order after the static tokens, such as `ServiceAccountTokens.verify`. @default none */
  readonly verifiers?: readonly TokenVerifier[]
  /** Whether requests without credentials are accepted as `system:anonymous`. @default false */
  readonly allowAnonymous?: boolean
}

/** The parts of a request that identify the user. */
export interface Credentials {
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The values of headers that occur several times. @default none */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>
  /** From the client certificate, or set by an in-process caller; takes precedence over a token. */
  readonly user?: UserInfo | undefined
}

/**
 * Maps credentials to a user.
 *
 * @example
 * const authenticator = new Authenticator({ verifiers: [(token) => serviceAccountTokens.verify(token)?.user] })
 * const user = authenticator.authenticate(request)
 */
export class Authenticator {
  // Tokens are stored as digests, so that the time of a lookup does not depend on a guessed prefix.
  readonly #tokens = new Map<string, UserInfo>()
  readonly #verifiers: readonly TokenVerifier[]
  readonly #allowAnonymous: boolean

  constructor(options: AuthenticatorOptions = {}) {
    for (const [token, user] of options.tokens ?? []) this.#tokens.set(digest(token), user)
    this.#verifiers = options.verifiers ?? []
    this.#allowAnonymous = options.allowAnonymous ?? false
  }

  /**
   * The user of the request. Throws a 401 for an invalid token, and for missing credentials where they are required.
   */
  authenticate(credentials: Credentials): UserInfo {
    if (credentials.user !== undefined) return authenticated(credentials.user)
    const token = bearerToken(credentials.headers.authorization)
    if (token !== undefined) {
      const user = this.verify(token)
      if (user === undefined) throw unauthorized()
      return authenticated(user)
    }
    if (!this.#allowAnonymous) throw unauthorized()
    return anonymousUser
  }

  /** The user of a bearer token, `undefined` when it is not valid. */
  verify(token: string): UserInfo | undefined {
    const fixed = this.#tokens.get(digest(token))
    if (fixed !== undefined) return fixed
    for (const verifier of this.#verifiers) {
      const user = verifier(token)
      if (user !== undefined) return user
    }
    return undefined
  }
}

/**
 * The user of a verified client certificate: common name and organizations, with the certificate's fingerprint as
 * credential id. `undefined` when the certificate has no common name.
 */
export function userFromCertificate(certificate: Pick<PeerCertificate, 'subject' | 'raw'>): UserInfo | undefined {
  const { CN, O: organizations } = certificate.subject
  const username = Array.isArray(CN) ? CN[0] : CN
  if (typeof username !== 'string' || username === '') return undefined
  const groups = organizations === undefined ? [] : [organizations].flat()
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex')
  return authenticated({
    username,
    groups,
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  })
}

/**
 * The effective user of a request: `user` itself, or the one in its `Impersonate-*` headers. Each part of that identity
 * requires the verb `impersonate`, otherwise this throws a 403.
 */
export function impersonate(
  user: UserInfo,
  credentials: Pick<Credentials, 'headers' | 'repeatedHeaders'>,
  authorizer: Authorizer,
): UserInfo {
  const { headers } = credentials
  const username = headers['impersonate-user'] ?? ''
  const groups = headerValues(credentials, 'impersonate-group')
  const uid = headers['impersonate-uid'] ?? ''
  const extra = extraHeaders(credentials)
  if (username === '') {
    if (groups.length === 0 && uid === '' && extra.size === 0) return user
    const parts = [
      ...groups.map((group) => `{Group  ${group}    }`),
      ...(uid === '' ? [] : [`{UID  ${uid}  authentication.k8s.io/v1  }`]),
    ]
    const message = `requested [${[...parts, ...extra.keys()].join(' ')}] without impersonating a user`
    throw new StatusError(400, 'BadRequest', message)
  }
  for (const access of requiredAccess(user, username, groups, uid, extra)) {
    const decision = authorizer.authorize(access)
    if (!decision.allowed) throw forbidden(access, decision.reason)
  }
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: impersonatedGroups(username, groups),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  }
}

/** A 401 with the API's message: it never contains the reason. */
export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized')
}

function bearerToken(authorization: string | undefined): string | undefined {
  const match = /^bearer +(\S+)\s*$/i.exec(authorization ?? '')
  return match?.[1]
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

/** Each occurrence is one value, including any commas. */
function headerValues(
  { headers, repeatedHeaders }: Pick<Credentials, 'headers' | 'repeatedHeaders'>,
  name: string,
): readonly string[] {
  const values = repeatedHeaders?.[name] ?? [headers[name] ?? '']
  return values.filter((value) => value !== '')
}

function extraHeaders(credentials: Pick<Credentials, 'headers' | 'repeatedHeaders'>): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>()
  for (const name of Object.keys({ ...credentials.headers, ...credentials.repeatedHeaders })) {
    if (!name.startsWith('impersonate-extra-')) continue
    extra.set(decode(name.slice('impersonate-extra-'.length)), headerValues(credentials, name))
  }
  return extra
}

/** Keys are percent-encoded because header names cannot contain every character. */
function decode(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    // Not percent-encoded: the real server uses such a key unchanged.
    return key
  }
}

function* requiredAccess(
  user: UserInfo,
  username: string,
  groups: readonly string[],
  uid: string,
  extra: ReadonlyMap<string, readonly string[]>,
): Generator<ResourceAccess> {
  const verb = 'impersonate'
  const account = parseServiceAccountUsername(username)
  if (account === undefined) yield { user, verb, group: '', resource: 'users', name: username }
  else yield { user, verb, group: '', resource: 'serviceaccounts', namespace: account.namespace, name: account.name }
  for (const name of groups) yield { user, verb, group: '', resource: 'groups', name }
  for (const [subresource, values] of extra) {
    for (const name of values) {
      yield { user, verb, group: 'authentication.k8s.io', resource: 'userextras', subresource, name }
    }
  }
  if (uid !== '') yield { user, verb, group: 'authentication.k8s.io', resource: 'uids', name: uid }
}

function impersonatedGroups(username: string, requested: readonly string[]): string[] {
  const account = parseServiceAccountUsername(username)
  const groups = requested.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : requested
  const proven = username === anonymousUser.username ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP
  const settled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP)
  return settled ? [...groups] : [...groups, proven]
}
