/** Runs decisions against a model of Helm that fails, crashes and is also used manually. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { LastFailure } from '../api/collector.ts'
import { type Decision, decide } from './decide.ts'
import { type Ingredients, isMadeFrom, type Revision, revisionMarks } from './revision-marks.ts'

const KEY = { namespace: 'default', name: 'metrics' }
const START = Date.parse('2030-01-01T00:00:00Z')
const STALE_AFTER_MS = 60_000
const MAX_STEPS = 60

const digest = (letter: string) => `sha256:${letter.repeat(64)}`

type Outcome = 'succeeds' | 'fails' | 'is disturbed' | 'crashes' | 'gets stuck'

const ingredients = fc
  .constantFrom('a', 'b', 'd')
  .map((letter): Ingredients => ({ chartDigest: digest('c'), valuesDigest: digest(letter) }))

/** The state of the release, and the time. */
class World {
  history: readonly Revision[] = []
  lastFailure: LastFailure | undefined
  now = START
  readonly policy: { readonly isSuspended: boolean; readonly rollsBack: boolean; readonly heals: boolean }
  /** Values whose workloads never get ready. */
  readonly #stuck = new Set<string>()

  constructor(rollsBack: boolean) {
    this.policy = { isSuspended: false, rollsBack, heals: true }
  }

  decide(desired: Ingredients): Decision {
    const { history, lastFailure, now, policy } = this
    const newest = history.at(-1)
    const isStuck =
      newest !== undefined && isMadeFrom(newest, desired, history) && this.#stuck.has(desired.valuesDigest)
    const health = isStuck ? 'stuck' : 'ready'
    return decide({ history, desired, health, drift: 'none', lastFailure, policy, now, staleAfterMs: STALE_AFTER_MS })
  }

  act(decision: Decision, desired: Ingredients, outcome: Outcome): void {
    this.now += 1_000
    if (decision.action === 'wait') this.now += decision.retryAfterMs
    else if (decision.action === 'install') this.#deploy('pending-install', desired, outcome)
    else if (decision.action === 'upgrade') this.#deploy('pending-upgrade', desired, outcome)
    else if (decision.action === 'rollback') this.#rollBack(decision.revision)
    else if (decision.action === 'note-stuck') this.#note(desired, 'WorkloadsStuck')
    else if (decision.action === 'recover') this.#recover()
  }

  byHand(desired: Ingredients): void {
    if (this.history.at(-1)?.status === 'deployed')
      this.#append({ ...revisionMarks(KEY, desired), description: 'mine' })
  }

  #deploy(pending: 'pending-install' | 'pending-upgrade', desired: Ingredients, outcome: Outcome): void {
    const marks = revisionMarks(KEY, desired)
    if (outcome === 'crashes') this.#append({ ...marks, status: pending })
    else if (outcome === 'fails' || outcome === 'is disturbed') {
      this.#append({ ...marks, status: 'failed', description: 'it failed' })
      this.#note(desired, outcome === 'fails' ? 'HelmObjectRefused' : 'HelmFailed')
    } else {
      if (outcome === 'gets stuck') this.#stuck.add(desired.valuesDigest)
      this.#append(marks)
      this.lastFailure = undefined
    }
  }

  #rollBack(revision: number): void {
    const target = this.history.find((candidate) => candidate.revision === revision)
    expect(target).toBeDefined()
    this.#append({ labels: target?.labels ?? {}, description: `Rollback to ${revision}` })
  }

  #recover(): void {
    const good = this.history.findLast(({ status }) => ['deployed', 'superseded', 'failed'].includes(status))
    if (this.history.at(-1)?.status === 'pending-install' || good === undefined) this.history = []
    else this.#rollBack(good.revision)
  }

  #append(parts: Partial<Revision> & Pick<Revision, 'labels' | 'description'>): void {
    const revision = (this.history.at(-1)?.revision ?? 0) + 1
    const lastDeployed = new Date(this.now).toISOString()
    const next = { revision, status: 'deployed' as const, lastDeployed, ...parts }
    const before = this.history.map((old) =>
      next.status === 'deployed' && old.status === 'deployed' ? { ...old, status: 'superseded' as const } : old,
    )
    this.history = [...before, next]
  }

  #note(tried: Ingredients, reason: string): void {
    const attempts = (this.lastFailure?.attempts ?? 0) + 1
    this.lastFailure = { reason, message: 'x', time: new Date(this.now).toISOString(), attempts, ...tried }
  }
}

it('a Collector settles on the desired or the last good release, whatever happened before', () => {
  const outcome = fc.constantFrom<Outcome>('succeeds', 'fails', 'is disturbed', 'crashes', 'gets stuck')
  const step = fc.record({ desired: ingredients, outcome, isByHand: fc.boolean() })
  fc.assert(
    fc.property(fc.boolean(), fc.array(step, { maxLength: 12 }), ingredients, (rollsBack, steps, last) => {
      const world = new World(rollsBack)
      for (const { desired, outcome, isByHand } of steps) {
        if (isByHand) world.byHand(desired)
        world.act(world.decide(desired), desired, outcome)
      }
      let taken = 0
      for (; world.decide(last).action !== 'nothing'; taken++) {
        expect(taken).toBeLessThan(MAX_STEPS)
        world.act(world.decide(last), last, 'succeeds')
      }
      const { history } = world
      const newest = history.at(-1)
      expect(newest?.status).toBe('deployed')
      const decision = world.decide(last)
      if (!rollsBack) expect(decision).toEqual({ action: 'nothing', state: 'current' })
      if (decision.action === 'nothing' && decision.state === 'current') {
        expect(newest && isMadeFrom(newest, last, history)).toBe(true)
      }
      // Once settled, nothing happens anymore.
      world.act(decision, last, 'succeeds')
      world.now += 86_400_000
      expect(world.decide(last)).toEqual(decision)
      expect(world.history).toBe(history)
    }),
    { numRuns: 500 },
  )
})
