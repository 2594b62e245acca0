/** Compares the state of a run with that of another one, or with its own earlier state. */
import { ChosenValues } from '../compare/chosen-values.ts'
import { type Difference, differences, type EndState, endStates } from '../compare/difference.ts'
import { type Snapshot, takeSnapshot, withoutTimes } from '../compare/snapshot.ts'
import type { StepStart } from '../compare/time-scale.ts'
import type { OperatorUnderTest } from '../operator-under-test.ts'
import { isBookkeeping } from '../world/request-facts.ts'
import type { World } from '../world/world.ts'
import { type Baseline, inScope, resourcesOf, VOLATILE } from './baseline.ts'

/** What is compared with what. */
export interface ComparisonOptions {
  /** The undisturbed run; absent in the undisturbed run itself. */
  readonly expected?: Baseline
  /** Whether times are compared. @default true */
  readonly comparesTimes?: boolean
}

/** Takes snapshots of one run and compares them. */
export class Comparison {
  readonly #world: World
  readonly #operator: OperatorUnderTest
  readonly #options: ComparisonOptions
  readonly #stepStarts: StepStart[] = []
  #endStates: readonly EndState[] = []
  #prepared: { readonly of: Snapshot; readonly scope: string; readonly value: Snapshot } | undefined

  constructor(world: World, operator: OperatorUnderTest, options: ComparisonOptions) {
    this.#world = world
    this.#operator = operator
    this.#options = options
  }

  /** Times are compared by the step in which they lie. */
  beginStep(name: string): void {
    this.#stepStarts.push({ name, atMs: this.#world.clock.now() })
  }

  /**
   * What differs now from an earlier or another state.
   *
   * @param seenFromMs the time from which others are past or to come
   */
  differencesFrom(expected: Snapshot, seenFromMs?: number): readonly Difference[] {
    const { expected: baseline, comparesTimes = this.#world.pace.isExact } = this.#options
    const resources = this.#resources()
    const made = new Set([...(baseline?.creates.keys() ?? []), ...this.#world.log.countByObject('create').keys()])
    const compared = (snapshot: Snapshot) => {
      const scoped = (baseline?.chosen ?? ChosenValues.none).apply(inScope(snapshot, resources, made))
      return comparesTimes ? scoped : withoutTimes(scoped)
    }
    // The same state is compared many times until a run agrees. Both sets only grow.
    const scope = `${resources.size} ${made.size}`
    if (this.#prepared?.of !== expected || this.#prepared.scope !== scope)
      this.#prepared = { of: expected, scope, value: compared(expected) }
    const now = compared(this.snapshot(seenFromMs))
    const found = differences(this.#prepared.value, now)
    this.#endStates = found.length === 0 ? [] : endStates(this.#prepared.value, now, found)
    return found
  }

  /** Both states of the objects that differed in the last comparison. */
  get endStates(): readonly EndState[] {
    return this.#endStates
  }

  /** The state now. */
  snapshot(seenFromMs = this.#world.clock.now()): Snapshot {
    const { cluster, ledger, outside, outsideWorld, foreign, log, startMs } = this.#world
    return takeSnapshot({
      cluster,
      ledger,
      worlds: new Set([outside, outsideWorld]),
      operator: this.#operator,
      scale: { startMs, nowMs: seenFromMs, steps: this.#stepStarts },
      resources: this.#resources(),
      others: log.countByObject('create').keys(),
      withoutForeign: foreign.without.bind(foreign),
    })
  }

  /** In an undisturbed run everything is recorded: another run may write what this one does not. */
  #resources(): ReadonlySet<string> {
    const { expected } = this.#options
    if (expected === undefined) return everythingLasting(this.#world.cluster)
    return new Set([...expected.resources, ...resourcesOf(this.#world, this.#operator)])
  }
}

function everythingLasting({ api }: World['cluster']): ReadonlySet<string> {
  const all = api.resources().map(({ resource }) => resource)
  return new Set(all.filter((resource) => !VOLATILE.has(resource) && !isBookkeeping(resource)))
}
