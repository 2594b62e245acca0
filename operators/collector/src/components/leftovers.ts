/** Component: uninstalls the release that a Collector had before it moved, once the new one is available. */
import { HelmError, type ReleaseKey } from '@reeve/helm'
import { isForbidden, objectKey } from '@reeve/kube'
import { claimants } from '../cached-collectors.ts'
import { uninstall } from '../release/act.ts'
import type { CollectorContext } from '../release/collector-context.ts'
import { type Failure, failureOf } from '../release/failure.ts'
import { findNamespace, forbidden, readRecords, recordedReleases } from '../release/observe-release.ts'
import { isOwnedBy } from '../release/release-records.ts'
import { formatRelease } from '../release-key.ts'
import type { CollectorComponent } from './collector-component.ts'
import { type ReleaseResult, release } from './release.ts'

/** Releases from before a move. */
export interface Leftovers {
  /** Those that still have to be removed. */
  readonly pending: readonly ReleaseKey[]
  /** Those to keep in the status: the pending ones, and those that another Collector declares. */
  readonly recorded: readonly ReleaseKey[]
  readonly failure?: Failure
}

/** Releases from before a move. */
export const leftovers: CollectorComponent<Leftovers> = {
  name: 'leftovers',
  needs: [release],
  async resolve(context) {
    const current = context.factsOf(release)
    const others = recordedReleases(context.primary).filter(
      (recorded) => current !== undefined && formatRelease(recorded) !== formatRelease(current.release),
    )
    // As long as nothing can be done for the new release, or it is being made, the old one simply stays.
    if (current?.decision === undefined || current.hasActed) return { pending: [], recorded: others }
    const pending = others.filter((other) => !isWanted(other, context))
    return isAvailable(current) ? removeAll(others, pending, context) : { pending, recorded: others }
  },
}

/** A release that another Collector declares meanwhile is left for that one to adopt. */
function isWanted(other: ReleaseKey, { primary, cache, dependencies }: CollectorContext): boolean {
  const askers = claimants(cache, other, dependencies.tenancy)
  return askers.some(({ metadata }) => metadata.uid !== primary.metadata.uid)
}

function isAvailable({ decision, workloads }: ReleaseResult): boolean {
  const isSettled = decision?.action === 'nothing' && decision.state !== 'suspended'
  return isSettled && workloads.health === 'ready'
}

async function removeAll(
  others: readonly ReleaseKey[],
  pending: readonly ReleaseKey[],
  context: CollectorContext,
): Promise<Leftovers> {
  const { primary, signal } = context
  const left = new Set<ReleaseKey>()
  let failure: Failure | undefined
  for (const other of others) {
    if ((await findNamespace(other.namespace, context)) === undefined) continue
    try {
      const records = await readRecords(other, context)
      // Removed manually, or adopted by another Collector.
      if (!isOwnedBy(records, objectKey(primary))) continue
      const isGone = pending.includes(other) && (await uninstall(other, records, context)).length === 0
      if (!isGone) left.add(other)
    } catch (error) {
      signal.throwIfAborted()
      if (!isForbidden(error) && !(error instanceof HelmError)) throw error
      failure ??= isForbidden(error) ? forbidden(other, error, context) : failureOf(error)
      left.add(other)
    }
  }
  const isLeft = (other: ReleaseKey) => left.has(other)
  return { pending: pending.filter(isLeft), recorded: others.filter(isLeft), ...(failure && { failure }) }
}
