import { describe, expect, it } from 'vitest'
import type { ReleaseStatus } from '../release/release.ts'
import { planRecovery } from './plan-recovery.ts'

const now = Date.parse('2026-01-01T00:10:00Z')
const conditions = { now, staleAfterMs: 300_000 }

/** Revisions 1, 2, …; the newest is as old as given. */
function history(statuses: readonly ReleaseStatus[], ageMs = 600_000) {
  const lastDeployed = new Date(now - ageMs).toISOString()
  return statuses.map((status, index) => ({ revision: index + 1, status, lastDeployed }))
}

describe('planRecovery', () => {
  it.each<[string, readonly ReleaseStatus[], object]>([
    ['nothing was ever installed', [], { action: 'none' }],
    ['it is deployed', ['superseded', 'deployed'], { action: 'none' }],
    ['it failed', ['deployed', 'failed'], { action: 'none' }],
    ['an older revision is pending', ['deployed', 'pending-upgrade', 'deployed'], { action: 'none' }],
    ['its first install was interrupted', ['pending-install'], { action: 'uninstall' }],
    [
      'an install after an uninstall was interrupted',
      ['superseded', 'uninstalled', 'pending-install'],
      { action: 'uninstall' },
    ],
    ['an uninstall was interrupted', ['superseded', 'uninstalling'], { action: 'uninstall' }],
    ['an upgrade was interrupted', ['superseded', 'deployed', 'pending-upgrade'], { action: 'rollback', revision: 2 }],
    ['a rollback was interrupted', ['deployed', 'failed', 'pending-rollback'], { action: 'rollback', revision: 1 }],
    ['nothing is deployed anymore', ['superseded', 'failed', 'pending-upgrade'], { action: 'rollback', revision: 1 }],
    ['nothing was ever deployed', ['failed', 'pending-upgrade'], { action: 'rollback', revision: 1 }],
    ['only pending revisions are left', ['pending-upgrade', 'pending-upgrade'], { action: 'uninstall' }],
  ])('decides what to do when %s', (_what, statuses, plan) => {
    expect(planRecovery(history(statuses), conditions)).toEqual(plan)
  })

  it('waits for as long as its author may be running', () => {
    const plan = planRecovery(history(['deployed', 'pending-upgrade'], 100_000), conditions)
    expect(plan).toEqual({ action: 'wait', retryAfterMs: 200_000 })
  })

  it('waits for an author whose clock is ahead, and not for one from another age', () => {
    expect(planRecovery(history(['pending-install'], -60_000), conditions)).toMatchObject({ action: 'wait' })
    expect(planRecovery(history(['pending-install'], -1e12), conditions)).toEqual({ action: 'uninstall' })
  })

  it('finishes an uninstall immediately: doing it twice is safe', () => {
    expect(planRecovery(history(['uninstalling'], 0), conditions)).toEqual({ action: 'uninstall' })
  })
})
