/**
 * Marks on the revisions that the operator creates. The history alone shows the owner of a release and what it was made
 * from; nothing depends on memory or on the status of the Collector.
 */
import { createHash } from 'node:crypto'
import type { Release } from '@reeve/helm'
import { formatKey, type ObjectKey } from '@reeve/kube'

/** Label of release records: a digest of the key of the Collector, whose name may be too long for a label. */
export const OWNER_LABEL = 'example.com/collector'
const CHART_LABEL = 'example.com/chart-digest'
const VALUES_LABEL = 'example.com/values-digest'

/** Digits of the digest in the label of the owner: enough to be unique. */
const OWNER_MARK_LENGTH = 40

const DIGEST = /^sha256:([0-9a-f]{64})$/
const DIGEST_MARK = /^sha256-([-_A-Za-z0-9]{43})$/

/** Helm carries labels over to revisions that are created manually, but not the description, which distinguishes them. */
const OWN_DESCRIPTION = 'Collector '
const ROLLBACK_DESCRIPTION = /^Rollback to (\d+)$/

/** The chart and values of a revision. */
export interface Ingredients {
  /** `sha256:` and 64 hexadecimal digits, as is the other. */
  readonly chartDigest: string
  readonly valuesDigest: string
}

/** The part of a revision that decisions use. */
export type Revision = Pick<Release, 'revision' | 'status' | 'description' | 'labels' | 'lastDeployed'>

/**
 * The mark of a Collector on its releases. A Collector that is restored from a backup finds its releases again.
 *
 * @example
 * ownerMark({ namespace: 'default', name: 'metrics' })
 */
export function ownerMark(collector: ObjectKey): string {
  return createHash('sha256').update(formatKey(collector)).digest('hex').slice(0, OWNER_MARK_LENGTH)
}

/**
 * Labels and description of a revision that is about to be made.
 *
 * @example
 * await helm.upgrade(release, chart, { ...revisionMarks(key, { chartDigest, valuesDigest }), values })
 */
export function revisionMarks(
  collector: ObjectKey,
  { chartDigest, valuesDigest }: Ingredients,
): { readonly labels: Readonly<Record<string, string>>; readonly description: string } {
  return {
    labels: {
      [OWNER_LABEL]: ownerMark(collector),
      [CHART_LABEL]: markOf(chartDigest),
      [VALUES_LABEL]: markOf(valuesDigest),
    },
    description: `${OWN_DESCRIPTION}${formatKey(collector)}`,
  }
}

/** Whether any Collector made the release. */
export function hasOwner(history: readonly Revision[]): boolean {
  return history.some(({ labels }) => labels[OWNER_LABEL] !== undefined)
}

/** Whether an attempt was made with these. */
export function isTriedWith(tried: Partial<Ingredients>, { chartDigest, valuesDigest }: Ingredients): boolean {
  return tried.chartDigest === chartDigest && tried.valuesDigest === valuesDigest
}

/** Whether a revision has exactly these. A manual revision never does. */
export function isMadeFrom(revision: Revision, ingredients: Ingredients, history: readonly Revision[]): boolean {
  if (isForeign(revision, history)) return false
  const { labels } = revision
  const { chartDigest, valuesDigest } = ingredients
  return labels[CHART_LABEL] === markOf(chartDigest) && labels[VALUES_LABEL] === markOf(valuesDigest)
}

/**
 * Whether a revision was created manually, or repeats one that was. In a failed revision, Helm's message has replaced the
 * description.
 */
export function isForeign(revision: Revision, history: readonly Revision[]): boolean {
  const { status, description } = revision
  if (status !== 'deployed' && status !== 'superseded') return false
  const repeated = rollbackTarget(revision)
  if (repeated === undefined) return !description.startsWith(OWN_DESCRIPTION)
  const target = history.find((candidate) => candidate.revision === repeated)
  // Revisions only repeat older ones, so this ends. One that Helm has dropped from the history counts as ours.
  return target !== undefined && target.revision < revision.revision && isForeign(target, history)
}

/** The older revision that a revision repeats, if it does. */
export function rollbackTarget({ description }: Revision): number | undefined {
  const [, target] = ROLLBACK_DESCRIPTION.exec(description) ?? []
  return target === undefined ? undefined : Number(target)
}

/**
 * The chart and values of a revision, according to its labels; `undefined` if no Collector created it.
 *
 * @example
 * const { chartDigest, valuesDigest } = ingredientsOf(revision) ?? {}
 */
export function ingredientsOf({ labels }: Revision): Ingredients | undefined {
  const chartDigest = digestOf(labels[CHART_LABEL])
  const valuesDigest = digestOf(labels[VALUES_LABEL])
  return chartDigest === undefined || valuesDigest === undefined ? undefined : { chartDigest, valuesDigest }
}

/**
 * A digest as the value of a label, which has at most 63 characters and does not end in a dash: 64 hexadecimal digits
 * are too many. In Base64, the last character of 32 bytes is never a dash.
 */
function markOf(digest: string): string {
  const [, hex = ''] = DIGEST.exec(digest) ?? []
  return `sha256-${Buffer.from(hex, 'hex').toString('base64url')}`
}

function digestOf(mark: string | undefined): string | undefined {
  const [, packed] = DIGEST_MARK.exec(mark ?? '') ?? []
  return packed === undefined ? undefined : `sha256:${Buffer.from(packed, 'base64url').toString('hex')}`
}
