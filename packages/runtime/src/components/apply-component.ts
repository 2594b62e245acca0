/** Writes the objects of one component, one after the other, and says how far it got. */
import { isNotFound, type KubeClient, type KubeObject, type Stored } from '@reeve/kube'
import type { AcceptedDifferences } from '../engine/accepted-differences.ts'
import { applyPlan, type Change } from '../engine/apply.ts'
import type { ComparedObjects } from '../engine/compared-objects.ts'
import type { DesiredObject } from '../engine/desired-object.ts'
import { StaleViewError } from '../engine/engine-error.ts'
import type { FieldTreePool } from '../engine/field-tree.ts'
import type { LiveView } from '../engine/live-view.ts'
import type { OwnerCheck } from '../engine/owner-check.ts'
import { canReference, type OwnedElsewhere } from '../engine/ownership.ts'
import { planObjects } from '../engine/plan.ts'
import type { ObjectOutcome } from './component.ts'

/** The input of writes. */
export interface ApplyContext {
  readonly client: KubeClient
  readonly owner: Stored<KubeObject>
  readonly ownerCheck: OwnerCheck
  readonly view: LiveView
  readonly elsewhere: readonly OwnedElsewhere[]
  readonly fieldManager: string
  readonly conflicts: 'force' | 'fail'
  readonly trees: FieldTreePool
  readonly accepted: AcceptedDifferences
  readonly compared: ComparedObjects
  readonly signal: AbortSignal
}

/** The outcome of the objects. */
export interface AppliedObjects {
  readonly objects: readonly ObjectOutcome[]
  readonly changes: readonly Change[]
  readonly failure: Error | undefined
}

/**
 * Applies objects in the order of their waves. What was written before a failure stays: it may hold a token that is
 * shown only once.
 *
 * *Errors*: `StaleViewError` when the view was old, and the reason of the signal. Everything else is in the result.
 */
export async function applyObjects(desired: readonly DesiredObject[], context: ApplyContext): Promise<AppliedObjects> {
  const objects: ObjectOutcome[] = []
  const changes: Change[] = []
  const failures: Error[] = []
  let isCut = false
  let pendingWave = Number.POSITIVE_INFINITY
  for (const wanted of [...desired].sort((left, right) => left.wave - right.wave)) {
    if (isCut || wanted.wave > pendingWave) {
      objects.push({ desired: wanted, state: 'skipped' })
      continue
    }
    try {
      const result = await applyOne(wanted, context)
      changes.push(...result.changes)
      const isPending = result.waitingFor.length > 0
      if (isPending) pendingWave = wanted.wave
      objects.push({ desired: wanted, state: isPending ? 'pending' : 'current' })
    } catch (error) {
      context.signal.throwIfAborted()
      if (error instanceof StaleViewError || !(error instanceof Error)) throw error
      const isElsewhere = !canReference(context.owner, wanted.object)
      if (isElsewhere && isNotFound(error)) {
        // Its namespace does not exist, so it is not needed there.
        objects.push({ desired: wanted, state: 'skipped' })
        continue
      }
      failures.push(error)
      objects.push({ desired: wanted, state: 'failed' })
      // Objects in other namespaces do not depend on each other.
      isCut = !isElsewhere
    }
  }
  return { objects, changes, failure: asOne(failures) }
}

function asOne(failures: readonly Error[]): Error | undefined {
  if (failures.length <= 1) return failures[0]
  return new AggregateError(failures, failures.map(({ message }) => message).join('; '))
}

function applyOne(wanted: DesiredObject, context: ApplyContext) {
  return applyPlan({ ...context, actions: planObjects({ ...context, desired: [wanted] }) })
}
