/** Decides what to renew and when, so that a server never shows a certificate that its clients do not trust. */
import { CERTIFICATE_DEFAULTS } from '../defaults.ts'
import { type CertificateSet, coversHosts, isSignedBy } from './certificate-set.ts'

/**
 * One step of the rotation. A new authority is published first, next to the old one; only after the overlap a serving
 * certificate is issued from it; and only after another overlap, when every replica shows that one, the old authority is
 * dropped.
 */
export type RotationStep = 'issue-all' | 'add-authority' | 'issue-serving' | 'drop-authorities' | 'none'

/** What the decision depends on besides the certificates. */
export interface RotationPolicy {
  readonly hosts: readonly string[]
  readonly authorityValidityMs: number
  readonly servingValidityMs: number
  /** How long each step is given to reach every replica and the API server. */
  readonly overlapMs: number
}

/** The next step, and when to check again if nothing else happens. */
export interface RotationPlan {
  readonly step: RotationStep
  readonly nextStepMs: number
}

/**
 * Pure: the same certificates at the same time give the same plan, so replicas agree without talking to each other.
 *
 * @example
 * const { step, nextStepMs } = planRotation(readCertificateSet(secret.data), policy, clock.now())
 */
export function planRotation(set: CertificateSet | undefined, policy: RotationPolicy, nowMs: number): RotationPlan {
  if (set === undefined) return { step: 'issue-all', nextStepMs: nowMs }
  const { serving, authorities } = set
  const [newest, ...older] = authorities
  const signer = authorities.find((authority) => isSignedBy(serving, authority)) ?? newest
  if (newest.expiresMs <= nowMs || signer.expiresMs <= nowMs) return { step: 'issue-all', nextStepMs: nowMs }

  const authorityDueMs = newest.expiresMs - policy.authorityValidityMs * CERTIFICATE_DEFAULTS.renewBefore
  if (authorityDueMs <= nowMs) return { step: 'add-authority', nextStepMs: nowMs }

  const servingDueMs = servingDue(set, policy, signer === newest)
  if (servingDueMs <= nowMs) return { step: 'issue-serving', nextStepMs: nowMs }

  const mayDrop = older.length > 0 && signer === newest
  const dropDueMs = mayDrop ? serving.issuedMs + policy.overlapMs : Number.POSITIVE_INFINITY
  if (dropDueMs <= nowMs) return { step: 'drop-authorities', nextStepMs: nowMs }
  return { step: 'none', nextStepMs: Math.min(authorityDueMs, servingDueMs, dropDueMs) }
}

function servingDue({ serving, authorities }: CertificateSet, policy: RotationPolicy, isFromNewest: boolean): number {
  // A name that is missing cannot be reached at all, so there is nothing to lose by hurrying.
  if (!coversHosts(serving, policy.hosts)) return Number.NEGATIVE_INFINITY
  const renewalMs = serving.expiresMs - policy.servingValidityMs * CERTIFICATE_DEFAULTS.renewBefore
  if (isFromNewest) return renewalMs
  const isPublishedMs = authorities[0].issuedMs + policy.overlapMs
  // Never before the new authority is known everywhere, unless the old certificate would run out first.
  return Math.min(isPublishedMs, serving.expiresMs - policy.overlapMs)
}
