/** Reconciles that fail now and then, and succeed when they are repeated: the end state does not show them. */
import { ApiError } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { shapeName } from '../src/choose-points.ts'
import { Explorer, explore, type OperatorUnderTest, type Scenario } from '../src/index.ts'
import { quotesFailures } from './catalogue/broken-by-hand.ts'
import { byHand, type Hand } from './catalogue/by-hand.ts'
import { goodReconcile } from './catalogue/good-hand.ts'
import { noteScenario } from './catalogue/notes.ts'
import { recordedOnTheRuntime } from './catalogue/on-the-runtime.ts'
import { type Box, boxOperator, boxScenario, correctReconcile } from './support/boxes.ts'

/** A correct operator on the runtime whose reconcile fails where `fails` says so. */
function failing(name: string, fails: () => (box: Box | undefined) => boolean): OperatorUnderTest {
  return boxOperator(name, {
    reconcile(place) {
      const reconcile = correctReconcile(place)
      const isFailing = fails()
      return async (request) => {
        if (isFailing(request.object)) throw new Error('not this time')
        return reconcile(request)
      }
    },
  })
}

/** The first call for each key only. */
function once(): (key: string | undefined) => boolean {
  const seen = new Set<string>()
  return (key) => {
    if (key === undefined || seen.has(key)) return false
    seen.add(key)
    return true
  }
}

const firstOf = (keyOf: (box: Box) => string | undefined) => () => {
  const isFirst = once()
  return (box: Box | undefined) => box !== undefined && isFirst(keyOf(box))
}

const onTheRuntime = [
  failing(
    'fails-for-one-value',
    firstOf(({ spec }) => (spec.lid ? 'closed' : undefined)),
  ),
  failing(
    'fails-once-per-object',
    firstOf(({ metadata }) => metadata.uid),
  ),
  failing(
    'fails-during-deletion',
    firstOf(({ metadata }) => metadata.deletionTimestamp),
  ),
]

async function findings(operator: OperatorUnderTest, scenario: Scenario) {
  const { divergences } = await explore(operator, scenario, { patterns: ['undisturbed'], stopAfter: 1 })
  return divergences.flatMap(({ problems }) => problems.map(({ kind, message }) => `${kind}: ${message}`))
}

const NOT_THIS_TIME = expect.arrayContaining([expect.stringMatching(/^reconcile-error: .*not this time/)])

describe('a reconcile that fails and succeeds on retry is a finding of the undisturbed run', () => {
  it.each(onTheRuntime)('an operator that $name is found', async (operator) => {
    expect(await findings(operator, boxScenario)).toEqual(NOT_THIS_TIME)
  })

  it('a failure after the last step, when everything declared is deleted, is found', async () => {
    const [first, second] = boxScenario.steps
    if (first === undefined || second === undefined) throw new Error('the scenario has changed')
    const operator = failing(
      'fails-during-deletion',
      firstOf(({ metadata }) => metadata.deletionTimestamp),
    )
    expect(await findings(operator, { name: 'without deletion', steps: [first, second] })).toEqual(NOT_THIS_TIME)
  })
})

/** A correct operator that does not use the runtime, reports to its log how its reconciles fail, and repeats them. */
function logging(name: string, log: (hand: Hand, error: Error) => void, error: () => Error): OperatorUnderTest {
  return byHand(name, {
    reconcile: async (hand) => {
      const note = hand.notes.get(hand.name)
      if (note?.spec.text === 'bread' && note.status?.conditions?.[0]?.observedGeneration !== note.metadata.generation)
        log(hand, error())
      await goodReconcile(hand)
    },
  })
}

const levels = ['debug', 'info', 'warn', 'error'] as const
const failure = () => new Error('not this time')

describe('a failure that is only logged is a finding of the undisturbed run', () => {
  it.each(levels)('an error at level %s is found', async (level) => {
    const operator = logging(
      'logs',
      ({ place }, error) => place.logger[level]({ err: error }, 'reconcile failed'),
      failure,
    )
    expect(await findings(operator, noteScenario as Scenario)).toEqual(NOT_THIS_TIME)
  })

  it('the message of an error is found in the log of a child logger', async () => {
    const operator = logging(
      'logs',
      ({ place, name }, { message }) => place.logger.child({ name }).warn({ err: message }, 'reconcile failed'),
      failure,
    )
    expect(await findings(operator, noteScenario as Scenario)).toEqual(NOT_THIS_TIME)
  })

  it('a conflict, which a retry resolves, is not a finding', async () => {
    const conflict = () => new ApiError({ verb: 'update', path: '/notes' }, 409)
    const operator = logging(
      'logs',
      ({ place }, error) => place.logger.warn({ err: error }, 'reconcile failed'),
      conflict,
    )
    expect(await findings(operator, noteScenario as Scenario)).toEqual([])
  })
})

describe('a call outside that fails for a while', () => {
  /** By what is tried first during the outage. */
  const findingsOf = async (operator: OperatorUnderTest, calls: readonly string[]) => {
    const explorer = new Explorer({ operator, scenario: noteScenario })
    const points = [...(await explorer.points('failed-request')).entries()]
    const found: Record<string, readonly string[]> = {}
    for (const call of calls) {
      const [at] = points.find(([, { shape }]) => shapeName(shape) === `calls fail for a while ${call}`) ?? []
      if (at === undefined) throw new Error(`the operator does not call ${call}`)
      const { problems, tookEffect } = await explorer.run('failed-request', at)
      expect(tookEffect).toBe(true)
      found[call] = problems.map(({ kind, message }) => `${kind}: ${message}`)
    }
    return found
  }

  it('shows an operator that tries again at once because its status quotes the failure', async () => {
    const HOT_LOOP = expect.stringMatching(/^runaway: hot loop: .*most often: .*patch notes.example.com.status/)
    const { 'create shopping': found } = await findingsOf(quotesFailures, ['create shopping'])
    expect(found).toContainEqual(HOT_LOOP)
  })

  it('is retried with a backoff by the runtime, although the status quotes each failure', async () => {
    expect(await findingsOf(recordedOnTheRuntime, ['create shopping', 'list', 'remove record-1'])).toEqual({
      'create shopping': [],
      list: [],
      'remove record-1': [],
    })
  })
})
