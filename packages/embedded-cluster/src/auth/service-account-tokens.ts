/** Signs and verifies the JSON web tokens of service accounts (the TokenRequest API and bearer authentication). */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto'
import type { ClusterApi } from '../api/cluster-api.ts'
import { serviceAccountGroups, serviceAccountUsername, type UserInfo } from '../api/user.ts'
import type { Clock } from '../clock.ts'
import { isJsonObject, type JsonObject } from '../json.ts'

/** Options of {@link ServiceAccountTokens}. */
export interface ServiceAccountTokensOptions {
  /** Access to accounts and to the objects that tokens are bound to. */
  readonly api: Pick<ClusterApi, 'get'>
  readonly clock: Clock
  /** @default 'https://kubernetes.default.svc.cluster.local' */
  readonly issuer?: string
  /** Audiences that the API server itself accepts; used when a request has none. @default [issuer] */
  readonly audiences?: readonly string[]
  /** An EC P-256 private key in PEM, to keep tokens valid across restarts. @default a new one */
  readonly privateKey?: string
  /** @default crypto.randomUUID */
  readonly randomUuid?: () => string
}

/** The subject of a token. */
export interface TokenSubject {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The object to which the validity of a token is bound. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node'
  readonly name: string
  readonly uid: string
}

/** Options of a token. */
export interface IssueOptions {
  readonly expirationSeconds: number
  readonly audiences?: readonly string[]
  readonly boundObject?: BoundObject | undefined
  /** The node of a bound pod; included in the token for tracing. */
  readonly node?: { readonly name: string; readonly uid: string } | undefined
}

/** The content of a valid token. */
export interface VerifiedToken {
  readonly user: UserInfo
  /** The requested audiences that the token is valid for. */
  readonly audiences: readonly string[]
}

const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local'
const boundResources = { pod: 'pods', secret: 'secrets', node: 'nodes' } as const
/** A longer token is invalid; rejecting it early makes hostile headers cheap. */
const MAX_TOKEN_LENGTH = 16 * 1024

/**
 * Issues and verifies ES256 tokens.
 *
 * *Guarantees*: a token stops being valid when its account or bound object is deleted or replaced by another of the
 * same name, not only when it expires.
 *
 * @example
 * const tokens = new ServiceAccountTokens({ api, clock })
 * const { token } = tokens.issue({ namespace: 'default', name: 'builder', uid }, { expirationSeconds: 3600 })
 * tokens.verify(token)?.user.username // system:serviceaccount:default:builder
 */
export class ServiceAccountTokens {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly #api: Pick<ClusterApi, 'get'>
  readonly #clock: Clock
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  readonly #keyId: string
  readonly #randomUuid: () => string

  constructor(options: ServiceAccountTokensOptions) {
    this.#api = options.api
    this.#clock = options.clock
    this.issuer = options.issuer ?? DEFAULT_ISSUER
    this.audiences = options.audiences ?? [this.issuer]
    this.#randomUuid = options.randomUuid ?? randomUUID
    this.#privateKey =
      options.privateKey === undefined
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
        : createPrivateKey(options.privateKey)
    this.#publicKey = createPublicKey(this.#privateKey)
    this.#keyId = createHash('sha256')
      .update(this.#publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url')
  }

  /** The signing key in PEM, to store it across restarts. */
  get privateKey(): string {
    return String(this.#privateKey.export({ type: 'pkcs8', format: 'pem' }))
  }

  /** Signs a token for a service account. */
  issue(subject: TokenSubject, options: IssueOptions): { readonly token: string; readonly expirationMs: number } {
    const issuedAt = Math.floor(this.#clock.now() / 1000)
    const expires = issuedAt + options.expirationSeconds
    const { boundObject, node } = options
    const audiences = options.audiences ?? []
    const claims: JsonObject = {
      aud: audiences.length === 0 ? [...this.audiences] : [...audiences],
      exp: expires,
      iat: issuedAt,
      iss: this.issuer,
      jti: this.#randomUuid(),
      'kubernetes.io': {
        namespace: subject.namespace,
        ...(boundObject === undefined
          ? {}
          : { [boundObject.kind.toLowerCase()]: { name: boundObject.name, uid: boundObject.uid } }),
        ...(node === undefined ? {} : { node: { name: node.name, uid: node.uid } }),
        serviceaccount: { name: subject.name, uid: subject.uid },
      },
      nbf: issuedAt,
      sub: serviceAccountUsername(subject.namespace, subject.name),
    }
    const signed = `${encode({ alg: 'ES256', kid: this.#keyId })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(signed), { key: this.#privateKey, dsaEncoding: 'ieee-p1363' })
    return { token: `${signed}.${signature.toString('base64url')}`, expirationMs: expires * 1000 }
  }

  /**
   * The identity of `token`, or `undefined` when it is not a valid token of this issuer for one of `audiences` (by
   * default those of the API server).
   */
  verify(token: string, audiences: readonly string[] = this.audiences): VerifiedToken | undefined {
    const claims = this.#verifiedClaims(token)
    if (claims === undefined) return undefined
    const nowSeconds = this.#clock.now() / 1000
    if (typeof claims.exp !== 'number' || nowSeconds >= claims.exp) return undefined
    if (typeof claims.nbf === 'number' && nowSeconds < claims.nbf) return undefined
    const meant = audiencesIn(claims)
    const matching = audiences.filter((audience) => meant.includes(audience))
    if (matching.length === 0) return undefined
    const user = this.#user(claims)
    return user === undefined ? undefined : { user, audiences: matching }
  }

  /**
   * The audiences of a token of this issuer, even if it is no longer valid; `undefined` for tokens of other issuers.
   */
  audiencesOf(token: string): readonly string[] | undefined {
    const claims = this.#verifiedClaims(token)
    return claims === undefined ? undefined : audiencesIn(claims)
  }

  /** The public key to verify tokens with: the body of `/openid/v1/jwks`. */
  jwks(): JsonObject {
    const { kty = '', crv = '', x = '', y = '' } = this.#publicKey.export({ format: 'jwk' })
    return { keys: [{ use: 'sig', kty, kid: this.#keyId, crv, alg: 'ES256', x, y }] }
  }

  /** The body of `/.well-known/openid-configuration`. */
  openidConfiguration(serverUrl: string): JsonObject {
    return {
      issuer: this.issuer,
      jwks_uri: `${serverUrl}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }
  }

  #verifiedClaims(token: string): JsonObject | undefined {
    if (token.length > MAX_TOKEN_LENGTH) return undefined
    const [header, payload, signature, ...rest] = token.split('.')
    if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined
    // The algorithm is fixed: a token must not choose how it is verified.
    if (decode(header)?.alg !== 'ES256') return undefined
    const genuine = verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      { key: this.#publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    )
    if (!genuine) return undefined
    const claims = decode(payload)
    return claims?.iss === this.issuer ? claims : undefined
  }

  #user(claims: JsonObject): UserInfo | undefined {
    const origin = claims['kubernetes.io']
    if (!isJsonObject(origin) || typeof origin.namespace !== 'string') return undefined
    const account = reference(origin.serviceaccount)
    if (account === undefined) return undefined
    const { namespace } = origin
    if (!this.#exists('serviceaccounts', namespace, account)) return undefined
    const extra: Record<string, readonly string[]> = {
      'authentication.kubernetes.io/credential-id': [`JTI=${String(claims.jti)}`],
    }
    const pod = reference(origin.pod)
    for (const kind of ['pod', 'secret', 'node'] as const) {
      const bound = reference(origin[kind])
      if (bound === undefined) continue
      if (kind !== 'secret') {
        extra[`authentication.kubernetes.io/${kind}-name`] = [bound.name]
        extra[`authentication.kubernetes.io/${kind}-uid`] = [bound.uid]
      }
      // The node of a bound pod is only informative: the pod determines how long the token is valid.
      if (kind === 'node' && pod !== undefined) continue
      const scope = kind === 'node' ? undefined : namespace
      if (!this.#exists(boundResources[kind], scope, bound)) return undefined
    }
    return {
      username: serviceAccountUsername(namespace, account.name),
      uid: account.uid,
      groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
      extra,
    }
  }

  #exists(resource: string, namespace: string | undefined, wanted: { name: string; uid: string }): boolean {
    const metadata = this.#api.get(resource, namespace, wanted.name)?.metadata
    return isJsonObject(metadata) && metadata.uid === wanted.uid
  }
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch {
    // A token that is not JSON was not issued here.
    return undefined
  }
}

function reference(value: unknown): { readonly name: string; readonly uid: string } | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string' || typeof value.uid !== 'string') return undefined
  return { name: value.name, uid: value.uid }
}

function audiencesIn({ aud }: JsonObject): readonly string[] {
  return (Array.isArray(aud) ? aud : [aud]).filter((audience) => typeof audience === 'string')
}
