/** Walks through declared states and compares with going straight to the last one. */
import { isRecord } from '@reeve/http'
import { isInvalid, type KubeObject, type ObjectKey } from '@reeve/kube'
import { differences } from '../compare/difference.ts'
import type { Snapshot } from '../compare/snapshot.ts'
import { explains } from '../judge/explanation.ts'
import { type ProblemKind, problem } from '../judge/problem.ts'
import type { PlainObject, Scenario, Step } from '../operator-under-test.ts'
import type { ScenarioRun } from '../run/run-options.ts'
import { runScenario } from '../run/scenario-run.ts'
import { outcomeOf, type PatternContext, type PointOutcome } from './pattern.ts'

/** What a run left behind, without its world. */
interface Straight {
  readonly outcome: PointOutcome
  readonly baseline: ScenarioRun['baseline']
  /** The server did not accept the state: a rule that the schema cannot say. */
  readonly isRejected: boolean
  /** It cannot be applied, and the status or an event reports it. */
  readonly isExplained: boolean
}

/** Runs walks for one operator. */
export class StateWalker {
  readonly #context: PatternContext
  readonly #straight = new Map<string, Promise<Straight>>()

  constructor(context: PatternContext) {
    this.#context = context
  }

  /**
   * Two ways to the last state have to end in the same objects.
   *
   * @param visible the field in which the first and the last state differ: that has to show in some object
   */
  async walk(states: readonly PlainObject[], visible?: string): Promise<PointOutcome> {
    const [first = {}, last = {}] = [states[0], states.at(-1)]
    const straight = await this.#goStraight(last)
    // The file of a process cannot say which states are possible beyond the schema; its operator can.
    const isStuck = straight.isExplained && straight.outcome.problems.length > 0
    if (isStuck && this.#context.operator.realTime !== undefined) return this.#walkBack(states, straight)
    if (straight.isRejected || straight.outcome.problems.length > 0) return straight.outcome
    const { baseline } = straight
    const end = baseline.snapshots[0] ?? new Map()
    const rejection = { isRejected: false }
    const steps = states.map((spec, index) => this.#step(`declare state ${index}`, spec, rejection))
    const around = await this.#run(
      { name: 'around', steps },
      {
        expected: {
          ...baseline,
          snapshots: states.map(() => end),
          durationsMs: [],
          managedWrites: states.length * baseline.managedWrites,
        },
        comparesFrom: states.length - 1,
        extraCreates: states.length,
        extraDeletes: states.length,
      },
    )
    const outcome = outcomeOf(around)
    if (visible === undefined || outcome.problems.length > 0) return outcome
    const before = await this.#goStraight(first)
    if (before.isRejected || effectOf(before.baseline.snapshots[0], end, this.#primaryId) !== 'unseen') return outcome
    const invisible = problem(
      'invisible-field',
      `${visible} shows in no object but the declared one, whatever the other fields were: list it in inertFields if that is intended, or give exampleSpecs in which it shows`,
    )
    return { ...outcome, problems: [invisible], trace: around.world.log.trace.excerpt() }
  }

  /** From a last state that is impossible, as the operator reports, there must be a way back to the first. */
  async #walkBack(states: readonly PlainObject[], { outcome }: Straight): Promise<PointOutcome> {
    const [first = {}] = states
    const { isRejected, outcome: good } = await this.#goStraight(first)
    const isPossible = !isRejected && good.problems.length === 0
    return isPossible ? this.walk([...states, first]) : { ...outcome, problems: [] }
  }

  /**
   * The same for a last state that the schema accepts and that may still be impossible, such as an empty name: then the
   * operator must report it, and there must be a way back to the first one.
   */
  async walkOrExplain(states: readonly PlainObject[]): Promise<PointOutcome> {
    const { isRejected, isExplained } = await this.#goStraight(states.at(-1) ?? {})
    return !isRejected && isExplained ? this.walk([...states, states[0] ?? {}]) : this.walk(states)
  }

  /** The order of the fields of an object means nothing, and must not show in other objects. */
  async walkInOtherOrder(spec: PlainObject): Promise<PointOutcome> {
    const one = await this.#goStraight(spec)
    if (one.isRejected || one.outcome.problems.length > 0) return one.outcome
    const other = await this.#goStraight(inOtherOrder(spec) as PlainObject)
    const found = differences(one.baseline.snapshots[0] ?? new Map(), other.baseline.snapshots[0] ?? new Map())
    if (found.length === 0) return other.outcome
    const message = 'the same state with its fields in another order leads to other objects: one of the two is wrong'
    return { ...other.outcome, problems: [problem('state-differs', message)], differences: found }
  }

  /** How the objects that two states lead to differ; `undefined` when one of them cannot be applied. */
  async effect(one: PlainObject, other: PlainObject): Promise<Effect | undefined> {
    const [first, second] = [await this.#goStraight(one), await this.#goStraight(other)]
    if ([first, second].some(({ isRejected, outcome }) => isRejected || outcome.problems.length > 0)) return undefined
    return effectOf(first.baseline.snapshots[0], second.baseline.snapshots[0], this.#primaryId)
  }

  get #key(): ObjectKey {
    const { crds, walkedNamespace = 'default' } = this.#context.operator
    return { name: 'walked', ...(crds[0]?.scope === 'Namespaced' && { namespace: walkedNamespace }) }
  }

  get #primaryId(): string {
    const [crd] = this.#context.operator.crds
    const { namespace } = this.#key
    return `${crd?.name} ${namespace === undefined ? '' : `${namespace}/`}${this.#key.name}`
  }

  /** Cached: every part of a full state that is removed starts from the same full state. */
  #goStraight(spec: PlainObject): Promise<Straight> {
    const key = JSON.stringify(spec)
    let known = this.#straight.get(key)
    if (known === undefined) {
      const rejection = { isRejected: false }
      const step = this.#step('declare the state', spec, rejection)
      known = this.#run({ name: 'straight', steps: [step] }, {}).then((run) => ({
        outcome: outcomeOf(run),
        baseline: run.baseline,
        isRejected: rejection.isRejected,
        isExplained:
          run.problems.every(({ kind }) => IMPOSSIBLE.has(kind)) && explains(run.world, this.#context.operator),
      }))
      // Other states than the full one are rarely needed twice.
      if (this.#straight.size < MAX_REMEMBERED) this.#straight.set(key, known)
    }
    return known
  }

  #run(scenario: Scenario, options: Partial<Parameters<typeof runScenario>[2]>): Promise<ScenarioRun> {
    const { operator, seed } = this.#context
    return runScenario(operator, scenario, { seed, comparesTimes: false, ...options })
  }

  #step(name: string, spec: PlainObject, rejection: { isRejected: boolean }): Step {
    return {
      name,
      act: async (user) => {
        await user.put(this.#declared(spec)).catch((error: unknown) => {
          if (!isInvalid(error)) throw error
          rejection.isRejected = true
        })
      },
    }
  }

  #declared(spec: PlainObject): KubeObject & PlainObject {
    const [crd] = this.#context.operator.crds
    const apiVersion = `${crd?.group}/${crd?.storageVersion}`
    return { apiVersion, kind: crd?.kind ?? '', metadata: this.#key, spec }
  }
}

function inOtherOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOtherOrder)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, item]) => [name, inOtherOrder(item)]),
  )
}

/** How a state that cannot be applied is reported. */
const IMPOSSIBLE: ReadonlySet<ProblemKind> = new Set([
  'reconcile-error',
  'rejected-request',
  'goal-not-reached',
  'activity-at-rest',
])

/** Snapshots that are kept: a few kilobytes each. */
const MAX_REMEMBERED = 64

/** `none` when two declared objects are equal after defaulting, `unseen` when only they differ, `shown` when others do. */
type Effect = 'none' | 'unseen' | 'shown'

function effectOf(before: Snapshot = new Map(), after: Snapshot = new Map(), primary: string): Effect {
  const all = differences(before, after)
  if (all.length === 0) return 'none'
  return all.every(({ object, field }) => object === primary && field.startsWith('spec')) ? 'unseen' : 'shown'
}
