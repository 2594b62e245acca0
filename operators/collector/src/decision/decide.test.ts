import { describe, expect, it } from 'vitest'
import type { LastFailure } from '../api/collector.ts'
import { decide, MAX_ATTEMPTS_BEFORE_ROLLBACK, type Observation, RETRY_BASE_MS } from './decide.ts'
import { type Ingredients, type Revision, revisionMarks } from './revision-marks.ts'

const KEY = { namespace: 'default', name: 'metrics' }
const NOW = Date.parse('2030-01-01T00:00:00Z')
const digest = (letter: string) => `sha256:${letter.repeat(64)}`
const made = (letter: string): Ingredients => ({ chartDigest: digest('c'), valuesDigest: digest(letter) })
const [A, B] = [made('a'), made('b')]

const revision = (number: number, from: Ingredients, parts: Partial<Revision> = {}): Revision => ({
  revision: number,
  status: 'deployed',
  ...revisionMarks(KEY, from),
  lastDeployed: '2029-12-31T23:59:50Z',
  ...parts,
})

const failure = (of: Ingredients, parts: Partial<LastFailure> = {}): LastFailure => ({
  reason: 'HelmObjectRefused',
  message: 'no',
  time: '2029-12-31T23:00:00Z',
  attempts: 1,
  ...of,
  ...parts,
})

const observe = (parts: Partial<Observation>): Observation => ({
  history: [],
  desired: A,
  health: 'ready',
  drift: 'none',
  lastFailure: undefined,
  policy: { isSuspended: false, rollsBack: true, heals: false },
  now: NOW,
  staleAfterMs: 60_000,
  ...parts,
})

const [OLD, GOOD] = [revision(1, A, { status: 'superseded' }), revision(1, A)]
const FAILED_B = revision(2, B, { status: 'failed', description: 'Upgrade "x" failed: no' })
const BACK_TO_A = revision(3, A, { description: 'Rollback to 1' })
const policy = (parts: Partial<Observation['policy']>) => ({ ...observe({}).policy, ...parts })

describe('the decision', () => {
  it.each<[string, Partial<Observation>, unknown]>([
    ['installs a missing release', {}, { action: 'install' }],
    ['does nothing for a release as desired', { history: [GOOD] }, { action: 'nothing', state: 'current' }],
    ['upgrades to other values', { history: [GOOD], desired: B }, { action: 'upgrade', why: 'changed' }],
    [
      'reverts a manual upgrade, although Helm carries the labels over',
      { history: [OLD, revision(2, A, { description: 'Upgrade complete' })] },
      { action: 'upgrade', why: 'foreign' },
    ],
    [
      'does not change a release that no Collector created',
      { history: [revision(1, A, { labels: {} })] },
      { action: 'blocked', by: undefined },
    ],
    ['yields to an older Collector', { claimedBy: 'default/older' }, { action: 'blocked', by: 'default/older' }],
    [
      'does nothing while suspended',
      { policy: policy({ isSuspended: true }) },
      { action: 'nothing', state: 'suspended' },
    ],
    ['waits for a young operation', { history: [revision(1, A, { status: 'pending-install' })] }, { action: 'wait' }],
    [
      'recovers from an old one',
      { history: [revision(1, A, { status: 'pending-install' })], staleAfterMs: 5_000 },
      { action: 'recover' },
    ],
    [
      'clears a record that an uninstall kept',
      { history: [revision(1, A, { status: 'uninstalled' })] },
      { action: 'recover' },
    ],
    [
      'continues an upgrade that was interrupted by a stop',
      { history: [GOOD, FAILED_B], desired: B },
      { action: 'upgrade', why: 'failed' },
    ],
    [
      'returns to the last good revision after a known failure',
      { history: [GOOD, FAILED_B], desired: B, lastFailure: failure(B) },
      { action: 'rollback', revision: 1 },
    ],
    [
      'tries a failed upgrade again when it must not roll back',
      { history: [GOOD, FAILED_B], desired: B, lastFailure: failure(B), policy: policy({ rollsBack: false }) },
      { action: 'upgrade', why: 'failed' },
    ],
    [
      'stays with the last good revision while the failed one is desired',
      { history: [OLD, FAILED_B, BACK_TO_A], desired: B },
      { action: 'nothing', state: 'rolled-back' },
    ],
    [
      'accepts the last good revision once that is desired',
      { history: [OLD, FAILED_B, BACK_TO_A], desired: A },
      { action: 'nothing', state: 'current' },
    ],
    [
      'tries something new after a return',
      { history: [OLD, FAILED_B, BACK_TO_A], desired: made('d') },
      { action: 'upgrade', why: 'changed' },
    ],
    [
      'upgrades again after a recovery, which is a rollback without a failure',
      { history: [OLD, revision(2, B, { status: 'pending-upgrade' }), BACK_TO_A], desired: B },
      { action: 'upgrade', why: 'changed' },
    ],
    [
      'notes workloads that do not get ready before it acts on them',
      { history: [OLD, revision(2, B)], desired: B, health: 'stuck' },
      { action: 'note-stuck' },
    ],
    [
      'returns from workloads that do not get ready',
      { history: [OLD, revision(2, B)], desired: B, health: 'stuck', lastFailure: failure(B) },
      { action: 'rollback', revision: 1 },
    ],
    [
      'has nowhere to return to from a first revision that does not get ready',
      { history: [GOOD], health: 'stuck' },
      { action: 'nothing', state: 'current' },
    ],
    ['only reports drift', { history: [GOOD], drift: 'found' }, { action: 'nothing', state: 'drifted' }],
    [
      'does not heal again what an upgrade has not healed',
      { history: [GOOD], drift: 'persistent', policy: policy({ heals: true }) },
      { action: 'nothing', state: 'drifted' },
    ],
    [
      'upgrades to the same when it should heal drift',
      { history: [GOOD], drift: 'found', policy: policy({ heals: true }) },
      { action: 'upgrade', why: 'drifted' },
    ],
  ])('%s', (_, parts, decision) => {
    expect(decide(observe(parts))).toMatchObject(decision as object)
  })

  it('backs off for repeated failures, and not at all for another chart or values', () => {
    const waits = [1, 2, 3, 50].map((attempts) => {
      const lastFailure = failure(A, { attempts, time: '2030-01-01T00:00:00Z' })
      const decision = decide(observe({ lastFailure }))
      return decision.action === 'wait' ? decision.retryAfterMs : 0
    })
    expect(waits).toEqual([RETRY_BASE_MS, 2 * RETRY_BASE_MS, 4 * RETRY_BASE_MS, 600_000])
    const lastFailure = failure(B, { time: '2030-01-01T00:00:00Z' })
    expect(decide(observe({ lastFailure }))).toEqual({ action: 'install' })
  })
})

describe('an upgrade that failed for a reason which may pass', () => {
  const history = [revision(1, A), revision(2, B, { status: 'failed', description: 'Upgrade failed' })]
  const passing = (attempts: number) => failure(B, { reason: 'HelmFailed', attempts })

  it('is retried before the rollback to the last good revision', () => {
    expect(decide(observe({ history, desired: B, lastFailure: passing(1) }))).toEqual({
      action: 'upgrade',
      why: 'failed',
    })
    const often = passing(MAX_ATTEMPTS_BEFORE_ROLLBACK)
    expect(decide(observe({ history, desired: B, lastFailure: often }))).toEqual({ action: 'rollback', revision: 1 })
  })

  it('is tried again after a recovery has restored the last good revision', () => {
    const recovered = [...history, revision(3, A, { description: 'Rollback to 1' })]
    const observation = observe({ history: recovered, desired: B, lastFailure: passing(1) })
    expect(decide(observation)).toEqual({ action: 'upgrade', why: 'changed' })
    expect(decide({ ...observation, lastFailure: failure(B) })).toEqual({ action: 'nothing', state: 'rolled-back' })
  })
})
