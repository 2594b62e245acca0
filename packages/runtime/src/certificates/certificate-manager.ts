/** Issues and rotates the certificate of the webhook server, and makes the API server trust it. */
import { type Clock, sleep, systemClock } from '@reeve/http'
import { isConnectionError, isDeadlineExceeded, type KubeClient } from '@reeve/kube'
import { CERTIFICATE_DEFAULTS } from '../defaults.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { RuntimeError } from '../runtime-error.ts'
import { bundleOf, CertificateSecret, type RotationOutcome } from './certificate-secret.ts'
import {
  CertificateHolder,
  type CertificateSource,
  firstCertificate,
  type ServingCertificate,
} from './certificate-source.ts'
import { type CaBundleTargets, injectCaBundle } from './inject-ca-bundle.ts'

/** Options of {@link CertificateManager}. */
export interface CertificateManagerOptions {
  /** Where the certificates are kept; created when it is missing. */
  readonly secret: { readonly namespace: string; readonly name: string }
  /** DNS names and IP addresses of the server; see `serviceHosts`. */
  readonly hosts: readonly string[]
  /** What has to trust the certificates. @default nothing */
  readonly inject?: CaBundleTargets
  /** @default 365 days */
  readonly authorityValidityMs?: number
  /** @default 90 days */
  readonly servingValidityMs?: number
  /** How long each step of a rotation is given to be seen everywhere. @default 30 minutes */
  readonly overlapMs?: number
  /** How often this replica checks the Secret and the targets. Well below the overlap. @default 1 minute */
  readonly checkIntervalMs?: number
  readonly clock?: Clock
  /** Spreads the checks of replicas. @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
}

/** First pause after a failure; doubles up to the check interval. */
const RETRY_MS = 1_000

/**
 * A source of certificates that needs nothing installed.
 *
 * *Guarantees*
 * - Replicas agree: each works from the same Secret, and of two that change it one wins.
 * - No request fails because of a rotation: a new authority is trusted before anything is signed by it, and an old one
 *   until nothing it signed is served. The bundle is written to the targets before the certificate is served.
 * - A target whose bundle was removed (by an upgrade of a chart) is repaired at the next check.
 *
 * *Assumption*: clocks of replicas and API server differ by less than an hour.
 *
 * @example
 * const certificates = new CertificateManager(client, {
 *   secret: { namespace: 'shop', name: 'webapp-webhook-tls' },
 *   hosts: serviceHosts({ namespace: 'shop', name: 'webapp-webhook' }),
 *   inject: { validating: ['webapp'], mutating: ['webapp'] },
 * })
 * manager.add(certificates, new WebhookServer(router, { certificates }))
 */
export class CertificateManager implements Runnable, CertificateSource {
  readonly name = 'certificates'
  readonly needsLeadership = false
  readonly phase = 'webhooks'
  readonly #client: KubeClient
  readonly #options: CertificateManagerOptions
  readonly #secret: CertificateSecret
  readonly #holder = new CertificateHolder()
  readonly #clock: Clock
  readonly #random: () => number
  readonly #logger: Logger
  readonly #checkIntervalMs: number
  #expiresMs = Number.POSITIVE_INFINITY
  #bundle: string | undefined

  constructor(client: KubeClient, options: CertificateManagerOptions) {
    const authorityValidityMs = options.authorityValidityMs ?? CERTIFICATE_DEFAULTS.authorityValidityMs
    const servingValidityMs = options.servingValidityMs ?? CERTIFICATE_DEFAULTS.servingValidityMs
    const overlapMs = options.overlapMs ?? CERTIFICATE_DEFAULTS.overlapMs
    const checkIntervalMs = options.checkIntervalMs ?? CERTIFICATE_DEFAULTS.checkIntervalMs
    checkTimes(authorityValidityMs, servingValidityMs, overlapMs, checkIntervalMs)
    const { secret, hosts } = options
    this.#client = client
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#logger = (options.logger ?? silentLogger).child({ secretName: `${secret.namespace}/${secret.name}` })
    this.#checkIntervalMs = checkIntervalMs
    this.#secret = new CertificateSecret(
      client,
      { secret, hosts, authorityValidityMs, servingValidityMs, overlapMs },
      this.#clock,
    )
  }

  get current(): ServingCertificate | undefined {
    return this.#holder.current
  }

  /** The authorities to trust, in PEM; undefined until the first check. */
  get bundle(): string | undefined {
    return this.#bundle
  }

  subscribe(listener: (certificate: ServingCertificate) => void): () => void {
    return this.#holder.subscribe(listener)
  }

  async whenReady(signal: AbortSignal): Promise<void> {
    await firstCertificate(this, signal)
  }

  /** Readiness check. *Errors*: none of the certificates is valid. */
  checkHealth(): void {
    if (this.current === undefined) throw new Error('no certificate has been issued yet')
    if (this.#clock.now() >= this.#expiresMs) throw new Error('the certificate has expired and could not be renewed')
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      let delayMs = this.#checkIntervalMs
      try {
        const { isComplete, nextStepMs } = await this.check(signal)
        failures = isComplete ? 0 : failures + 1
        delayMs = Math.min(delayMs, nextStepMs - this.#clock.now())
      } catch (error) {
        if (signal.aborted) return
        failures++
        // The client reports a server that cannot be reached once, for all its users.
        const isReported = isConnectionError(error) || isDeadlineExceeded(error)
        this.#logger[isReported ? 'debug' : 'warn']({ err: error }, 'could not check the certificates')
      }
      if (failures > 0) delayMs = Math.min(delayMs, RETRY_MS * 2 ** Math.min(failures - 1, 20))
      // Replicas that started together drift apart, so that one takes a step and the others find it done.
      const spreadMs = delayMs * (0.9 + 0.2 * this.#random())
      // Aborting is the only way a sleep fails, and the loop ends then.
      await sleep(Math.max(RETRY_MS, spreadMs), { clock: this.#clock, signal }).catch(() => undefined)
    }
  }

  /** Takes the steps that are due now. Called by `run`; also useful when a watch shows that a target has changed. */
  async check(signal: AbortSignal): Promise<{ readonly isComplete: boolean; readonly nextStepMs: number }> {
    const outcome = await this.#secret.rotate(signal)
    for (const step of outcome.steps) this.#logger.info({ step }, 'rotated certificates')
    const bundle = bundleOf(outcome.set)
    const isComplete = await this.#inject(bundle, signal)
    this.#adopt(outcome, bundle)
    return { isComplete, nextStepMs: outcome.nextStepMs }
  }

  async #inject(bundle: string, signal: AbortSignal): Promise<boolean> {
    const results = await injectCaBundle(this.#client, bundle, this.#options.inject ?? {}, { signal })
    for (const { target, outcome, error } of results) {
      if (outcome === 'patched') this.#logger.info({ target }, 'wrote the CA bundle')
      if (outcome === 'failed') this.#logger.warn({ target, err: error }, 'could not write the CA bundle')
    }
    return results.every(({ outcome }) => outcome !== 'failed')
  }

  #adopt({ set }: RotationOutcome, bundle: string): void {
    this.#bundle = bundle
    this.#expiresMs = set.serving.expiresMs
    if (this.#holder.set({ certificate: set.serving.pem, privateKey: set.servingKey })) {
      this.#logger.info({ expires: new Date(set.serving.expiresMs).toISOString() }, 'serving a new certificate')
    }
  }
}

function checkTimes(authorityMs: number, servingMs: number, overlapMs: number, checkIntervalMs: number): void {
  const fail = (problem: string) => {
    throw new RuntimeError('CERTIFICATE_CONFIG', problem)
  }
  if (!(authorityMs > servingMs)) {
    fail(
      `authorityValidityMs ${authorityMs} must be above servingValidityMs ${servingMs}: nothing outlives its authority`,
    )
  }
  if (!(servingMs * CERTIFICATE_DEFAULTS.renewBefore > 2 * overlapMs)) {
    fail(
      `servingValidityMs ${servingMs} leaves no time for two overlaps of ${overlapMs} ms: raise it or lower overlapMs`,
    )
  }
  if (!(overlapMs >= 2 * checkIntervalMs)) {
    fail(
      `overlapMs ${overlapMs} must be at least twice checkIntervalMs ${checkIntervalMs}: replicas must see each step`,
    )
  }
}
