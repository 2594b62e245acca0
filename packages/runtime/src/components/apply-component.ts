/** Writes the objects of one component, wave by wave, and says how far it got. */
import { isNotFound } from '@reeve/kube'
import { type ApplyInput, applyOne, type Change } from '../engine/apply.ts'
import type { DesiredObject } from '../engine/desired-object.ts'
import { canReference } from '../engine/ownership.ts'
import { StaleViewError } from '../runtime-error.ts'
import type { ObjectOutcome } from './component.ts'

/** The API server and other resources want their share. */
const MAX_PARALLEL = 4

/** The input of writes. */
export interface ApplyContext extends ApplyInput {
  /** The objects of a wave are written at the same time. */
  readonly inParallel: boolean
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
  const run = new ApplyRun(context)
  for (const wave of wavesOf(desired)) await run.apply(wave)
  return run.result
}

/** The objects of each wave, lowest first. */
function wavesOf(desired: readonly DesiredObject[]): readonly (readonly DesiredObject[])[] {
  const waves = Map.groupBy(desired, ({ wave }) => wave)
  return [...waves].sort(([left], [right]) => left - right).map(([, objects]) => objects)
}

/** What a component has written so far. */
class ApplyRun {
  readonly #context: ApplyContext
  readonly #objects: ObjectOutcome[] = []
  readonly #changes: Change[] = []
  readonly #failures: Error[] = []
  /** Nothing is begun anymore: an object failed, or an earlier wave is not ready. */
  #isCut = false

  constructor(context: ApplyContext) {
    this.#context = context
  }

  get result(): AppliedObjects {
    return { objects: this.#objects, changes: this.#changes, failure: asOne(this.#failures) }
  }

  /** Applies a wave. Resolves or rejects when no write is under way. */
  async apply(wave: readonly DesiredObject[]): Promise<void> {
    const { inParallel } = this.#context
    const outcomes: ObjectOutcome[] = []
    const waiting = wave.entries()
    const work = async () => {
      for (const [index, desired] of waiting) {
        outcomes[index] = { desired, state: this.#isCut ? 'skipped' : await this.#applyOne(desired) }
      }
    }
    const workers = Array.from({ length: inParallel ? Math.min(MAX_PARALLEL, wave.length) : 1 }, work)
    const ends = await Promise.allSettled(workers)
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    this.#objects.push(...outcomes)
    this.#isCut ||= outcomes.some(({ state }) => state === 'pending')
  }

  async #applyOne(desired: DesiredObject): Promise<ObjectOutcome['state']> {
    const context = this.#context
    try {
      const { change, isReady } = await applyOne(desired, context)
      if (change !== undefined) this.#changes.push(change)
      return isReady ? 'current' : 'pending'
    } catch (error) {
      const isElsewhere = !canReference(context.owner, desired.object)
      if (context.signal.aborted || error instanceof StaleViewError || !(error instanceof Error)) {
        this.#isCut = true
        throw context.signal.aborted ? context.signal.reason : error
      }
      // Its namespace does not exist, so it is not needed there.
      if (isElsewhere && isNotFound(error)) return 'skipped'
      this.#failures.push(error)
      // Objects in other namespaces do not depend on each other.
      if (!isElsewhere) this.#isCut = true
      return 'failed'
    }
  }
}

function asOne(failures: readonly Error[]): Error | undefined {
  if (failures.length <= 1) return failures[0]
  return new AggregateError(failures, failures.map(({ message }) => message).join('; '))
}
