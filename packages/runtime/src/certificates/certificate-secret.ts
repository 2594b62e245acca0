/** Keeps self-issued certificates in a Secret that all replicas share. */
import type { Clock } from '@reeve/http'
import {
  apiVersionOf,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  type Secret,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'
import { type CertificateSet, readCertificateSet, writeCertificateSet } from './certificate-set.ts'
import { issueAuthority, issueServing } from './issue-certificate.ts'
import { planRotation, type RotationPolicy, type RotationStep } from './plan-rotation.ts'

/** What {@link CertificateSecret} needs to know. */
export interface CertificateSecretOptions extends RotationPolicy {
  readonly secret: { readonly namespace: string; readonly name: string }
}

/** The certificates now, and when something is due. */
export interface RotationOutcome {
  readonly set: CertificateSet
  readonly nextStepMs: number
  /** What this call did. */
  readonly steps: readonly RotationStep[]
}

/** Another replica may win each time; more often than this something else is wrong. */
const ATTEMPTS = 8

/**
 * *Guarantees*: every write is a create or carries the resourceVersion it was decided on, so of several replicas one wins
 * and the others use its result. Needs `get`, `create` and `update` on this one Secret. Other keys of it stay.
 */
export class CertificateSecret {
  readonly #client: KubeClient
  readonly #options: CertificateSecretOptions
  readonly #clock: Clock
  /** Kept to trust the certificates of other replicas if the Secret is deleted. */
  #known: CertificateSet | undefined

  constructor(client: KubeClient, options: CertificateSecretOptions, clock: Clock) {
    this.#client = client
    this.#options = options
    this.#clock = clock
  }

  /** Reads the Secret and takes every step that is due. */
  async rotate(signal: AbortSignal): Promise<RotationOutcome> {
    const steps: RotationStep[] = []
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const secret = await this.#read(signal)
      const set = readCertificateSet(secret?.data)
      const { step, nextStepMs } = planRotation(set, this.#options, this.#clock.now())
      if (step === 'none' && set !== undefined) {
        this.#known = set
        return { set, nextStepMs, steps }
      }
      const data = await this.#take(step, set)
      if (await this.#write(secret, data, signal)) steps.push(step)
    }
    const { namespace, name } = this.#options.secret
    throw new RuntimeError(
      'CERTIFICATE_CONFLICT',
      `the Secret ${namespace}/${name} changed before every attempt to store certificates: find out what else writes to it`,
    )
  }

  async #take(step: RotationStep, set: CertificateSet | undefined): Promise<Record<string, string>> {
    const { secret, hosts, authorityValidityMs, servingValidityMs } = this.#options
    const nowMs = this.#clock.now()
    const makeAuthority = () => issueAuthority(secret.name, { nowMs, validityMs: authorityValidityMs })
    if (set === undefined || step === 'issue-all') {
      const authority = await makeAuthority()
      const serving = await issueServing(authority, hosts, { nowMs, validityMs: servingValidityMs })
      const authorities = [authority.certificate, ...this.#stillValid(this.#known, nowMs)]
      return writeCertificateSet({ serving, authorities, authorityKey: authority.privateKey })
    }
    const [newest] = set.authorities
    const serving = { certificate: set.serving.pem, privateKey: set.servingKey }
    const { authorityKey } = set
    if (step === 'add-authority') {
      const authority = await makeAuthority()
      const authorities = [authority.certificate, ...this.#stillValid(set, nowMs)]
      return writeCertificateSet({ serving, authorities, authorityKey: authority.privateKey })
    }
    if (step === 'issue-serving') {
      const authority = { certificate: newest.pem, privateKey: authorityKey }
      const renewed = await issueServing(authority, hosts, { nowMs, validityMs: servingValidityMs })
      return writeCertificateSet({ serving: renewed, authorities: this.#stillValid(set, nowMs), authorityKey })
    }
    return writeCertificateSet({ serving, authorities: [newest.pem], authorityKey })
  }

  #stillValid(set: CertificateSet | undefined, nowMs: number): readonly string[] {
    return (set?.authorities ?? []).filter(({ expiresMs }) => expiresMs > nowMs).map(({ pem }) => pem)
  }

  async #read(signal: AbortSignal): Promise<Stored<Secret> | undefined> {
    try {
      return await this.#client.get(Secrets, this.#options.secret, { signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /** False when another replica was faster. */
  async #write(
    current: Stored<Secret> | undefined,
    data: Record<string, string>,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      if (current === undefined) await this.#client.create(Secrets, this.#newSecret(data), { signal })
      else await this.#client.update(Secrets, { ...current, data: { ...current.data, ...data } }, { signal })
      return true
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return false
      throw error
    }
  }

  #newSecret(data: Record<string, string>): Secret {
    const { secret } = this.#options
    return {
      apiVersion: apiVersionOf(Secrets),
      kind: Secrets.kind,
      metadata: secret,
      type: 'kubernetes.io/tls',
      data,
    }
  }
}

/** The authorities of a set as a PEM bundle. */
export function bundleOf(set: CertificateSet): string {
  return set.authorities.map(({ pem }) => pem).join('')
}
