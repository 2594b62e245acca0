/** Checks a run on its own, without comparing it. */
import { isDeepStrictEqual } from 'node:util'
import type { OperatorUnderTest, PlainObject, Step } from '../operator-under-test.ts'
import type { ForeignChange } from '../world/ledger.ts'
import { isHarmlessResponse } from '../world/logged-failures.ts'
import { describeRequest, matchesId } from '../world/request-facts.ts'
import type { World } from '../world/world.ts'
import { FailureReader } from './failures.ts'
import { whyNotSettled } from './goal.ts'
import { type Problem, problem } from './problem.ts'

/** Examples that a message names. */
const MAX_EXAMPLES = 3

/** Follows one run and says what is wrong with it. */
export class Judge {
  readonly #world: World
  readonly #operator: OperatorUnderTest
  /** State outside before the operator started. */
  readonly #outsideBefore: ReadonlyMap<string, PlainObject>
  readonly #failures: FailureReader
  #rejectedSeen = 0
  #foreignSeen = 0
  #firstStepMs = 0

  constructor(world: World, operator: OperatorUnderTest) {
    this.#world = world
    this.#operator = operator
    this.#failures = new FailureReader(world)
    this.#outsideBefore = this.#outside()
  }

  /** What the operator makes before this belongs to itself, not to a declared object. */
  beginSteps(): void {
    this.#firstStepMs = this.#world.elapsedMs
  }

  /** Errors since the last call that are not expected. */
  errors(step: Step | undefined): readonly Problem[] {
    const { reconciles, logged } = this.#failures.next((message) => this.#isExpected(message, step))
    return [
      ...summed('reconcile-error', 'reconciles failed', reconciles),
      ...summed('reconcile-error', 'errors were logged', logged),
      ...this.#rejections(step),
    ]
  }

  /** Declared objects that have not reached their goal, or have reached one that they cannot reach. */
  goals({ goal = 'settled' }: Step): readonly Problem[] {
    if (goal === 'any') return []
    const reasons = this.#declared().flatMap(({ id, crd, object }) => {
      const why = this.#operator.goal === undefined ? whyNotSettled(crd, object) : this.#operator.goal(object)
      return why === undefined ? [] : [`${id} has not reached its goal: ${why}`]
    })
    if (goal === 'settled') return reasons.map((reason) => problem('goal-not-reached', reason))
    return reasons.length > 0
      ? []
      : [problem('goal-not-reached', 'every declared object says that it reached its goal, which it cannot')]
  }

  /** Once nothing is declared anymore, nothing that the operator created may be left. */
  leftBehind(): readonly Problem[] {
    if (this.#declared().length > 0) return []
    const { ledger } = this.#world
    const objects = ledger.madeByOperator(this.#firstStepMs).map(({ id }) => id)
    const fields = ledger.leftInForeignObjects().map(({ entry: { id }, field }) => `${id} ${field}`)
    const inUse = new Set(this.#world.outsideWorld.inUse?.().map((name) => `outside ${name}`))
    const outside = [...this.#outside()]
      .filter(([name, state]) => !inUse.has(name) && !isDeepStrictEqual(state, this.#outsideBefore.get(name)))
      .map(([name]) => name)
    const missing = [...this.#outsideBefore.keys()].filter((name) => !this.#outside().has(name))
    return [
      ...[...objects, ...fields, ...outside]
        .filter((id) => !this.#mayStay(id))
        .map((id) => problem('left-behind', `left behind after everything declared was deleted: ${id}`)),
      ...missing.map((name) => problem('foreign-object', `existed before the operator and was deleted: ${name}`)),
    ]
  }

  /** What the operator did to objects of other owners since the last call. */
  foreignChanges(): readonly Problem[] {
    const { foreignChanges } = this.#world.ledger
    const fresh = foreignChanges.slice(this.#foreignSeen)
    this.#foreignSeen = foreignChanges.length
    return unique(fresh.flatMap((change) => this.#verdictOn(change)))
  }

  #verdictOn({ entry, what, fields }: ForeignChange): readonly Problem[] {
    const shared = (this.#operator.sharedObjects ?? []).filter(({ resource }) => resource === entry.resource)
    const allowed = shared.flatMap((object) => object.fields)
    if (allowed.includes('*')) return []
    const isDeclared = this.#operator.crds.some(({ name }) => name === entry.resource)
    if (what === 'deleted')
      return [problem('foreign-object', `the operator deleted ${entry.id}, which ${owner(entry.creator)} made`)]
    const own = isDeclared ? ['status', 'metadata'] : []
    const changed = fields.map(({ field }) => field)
    const forbidden = changed.filter((field) => ![...own, ...allowed].some((prefix) => isBelow(field, prefix)))
    if (forbidden.length === 0) return []
    const examples = forbidden.slice(0, MAX_EXAMPLES).join(', ')
    return [
      problem('foreign-object', `the operator changed ${examples} of ${entry.id}, which ${owner(entry.creator)} made`),
    ]
  }

  #rejections(step: Step | undefined): readonly Problem[] {
    const { rejected } = this.#world.log
    const fresh = rejected.slice(this.#rejectedSeen)
    this.#rejectedSeen = rejected.length
    const found = fresh
      .filter(({ status, message }) => !isHarmlessResponse(status, message) && !this.#isExpected(message, step))
      .map((request) => `${request.status} ${describeRequest(request)}: ${request.message}`)
    return summed('rejected-request', 'requests were rejected', found)
  }

  #isExpected(message: string, step: Step | undefined): boolean {
    const expected = [...(this.#operator.expectedErrors ?? []), ...(step?.expectedErrors ?? [])]
    return expected.some((pattern) => pattern.test(message))
  }

  #declared() {
    return this.#operator.crds.flatMap((crd) =>
      this.#world.cluster.api.list(crd.name).map((object) => {
        const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name: string }
        return { id: `${crd.name} ${namespace === undefined ? '' : `${namespace}/`}${name}`, crd, object }
      }),
    )
  }

  #outside(): ReadonlyMap<string, PlainObject> {
    const worlds = new Set([this.#world.outside, this.#world.outsideWorld])
    return new Map(
      [...worlds].flatMap((world) =>
        Object.entries(world.state()).map(([name, state]) => [`outside ${name}`, state] as const),
      ),
    )
  }

  #mayStay(id: string): boolean {
    return (this.#operator.leavesBehind ?? []).some((pattern) => matchesId(pattern, id))
  }
}

/** Whether a field equals another one, or is below it. */
function isBelow(field: string, prefix: string): boolean {
  return field === prefix || field.startsWith(`${prefix}.`) || field.startsWith(`${prefix}[`)
}

function owner(creator: string): string {
  return creator === 'user' ? 'a user' : creator === 'cluster' ? 'the cluster' : 'another client'
}

/** One problem for all, with how many there are and the first few. */
function summed(kind: Problem['kind'], what: string, found: readonly string[]): readonly Problem[] {
  if (found.length === 0) return []
  const examples = [...new Set(found)].slice(0, MAX_EXAMPLES).join('; ')
  return [problem(kind, `${what} that are not declared as expected, ${found.length} in all: ${examples}`)]
}

function unique(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((one) => [one.message, one])).values()]
}
