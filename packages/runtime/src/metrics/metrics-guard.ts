/**
 * Protects `/metrics` as controller-runtime does: the API server authenticates the bearer token of a request
 * (TokenReview) and decides whether its user may `get` the path (SubjectAccessReview).
 */
import { createHash } from 'node:crypto'
import type { Clock } from '@reeve/http'
import { type KubeClient, SubjectAccessReviews, TokenReviews, type UserInfo } from '@reeve/kube'
import type { ServingCertificate } from '../certificates/certificate-source.ts'
import { issueAuthority, issueServing } from '../certificates/issue-certificate.ts'
import { METRICS_DEFAULTS } from '../defaults.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { LruMap } from '../lru-map.ts'

/** The HTTP status for a request: allowed, without valid credentials, not allowed, or not decided. */
export type GuardVerdict = 200 | 401 | 403 | 503

/** Options of {@link MetricsGuard}. */
export interface MetricsGuardOptions {
  /** Needs the right to create TokenReviews and SubjectAccessReviews. */
  readonly client: KubeClient
  readonly clock: Clock
  readonly logger?: Logger
}

interface Decision {
  readonly verdict: GuardVerdict
  readonly untilMs: number
}

const BEARER = /^Bearer +([\w.~+/-]+=*)$/i

/** Decides who may read metrics. Decisions are remembered, because scrapers come every few seconds. */
export class MetricsGuard {
  readonly #options: MetricsGuardOptions
  readonly #logger: Logger
  readonly #decisions = new LruMap<string, Decision>(METRICS_DEFAULTS.rememberedDecisions)

  constructor(options: MetricsGuardOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  /** A certificate for the server. It is self-signed: scrapers that verify it need one from elsewhere in front. */
  async certificate(): Promise<ServingCertificate> {
    const validity = { nowMs: this.#options.clock.now(), validityMs: METRICS_DEFAULTS.certificateValidityMs }
    return issueServing(await issueAuthority('metrics', validity), ['localhost'], validity)
  }

  /** The verdict for the Authorization header of a request. */
  async authorize(header: string | undefined, path: string, signal?: AbortSignal): Promise<GuardVerdict> {
    const [, token] = BEARER.exec(header ?? '') ?? []
    if (token === undefined || token.length > METRICS_DEFAULTS.maxTokenLength) return 401
    // The token itself is not kept in memory longer than the request.
    const key = createHash('sha256').update(token).update('\n').update(path).digest('base64')
    const known = this.#decisions.get(key)
    const nowMs = this.#options.clock.now()
    if (known !== undefined && nowMs < known.untilMs) return known.verdict
    const verdict = await this.#decide(token, path, signal)
    const ttlMs = verdict === 200 ? METRICS_DEFAULTS.allowedForMs : METRICS_DEFAULTS.deniedForMs
    if (verdict !== 503) this.#decisions.set(key, { verdict, untilMs: nowMs + ttlMs })
    return verdict
  }

  async #decide(token: string, path: string, signal: AbortSignal | undefined): Promise<GuardVerdict> {
    const options = { timeoutMs: METRICS_DEFAULTS.reviewTimeoutMs, ...(signal && { signal }) }
    try {
      const user = await this.#authenticate(token, options)
      if (user === undefined) return 401
      return (await this.#isAllowed(user, path, options)) ? 200 : 403
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not check who requests metrics; may the operator create TokenReviews?')
      return 503
    }
  }

  async #authenticate(token: string, options: ReviewOptions): Promise<UserInfo | undefined> {
    const { status } = await this.#options.client.create(
      TokenReviews,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } },
      options,
    )
    return status?.authenticated === true ? status.user : undefined
  }

  async #isAllowed(user: UserInfo, path: string, options: ReviewOptions): Promise<boolean> {
    const { username, uid, groups, extra } = user
    const { status } = await this.#options.client.create(
      SubjectAccessReviews,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          nonResourceAttributes: { path, verb: 'get' },
          ...(username !== undefined && { user: username }),
          ...(uid !== undefined && { uid }),
          ...(groups && { groups }),
          ...(extra && { extra }),
        },
      },
      options,
    )
    return status?.allowed === true
  }
}

interface ReviewOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}
