import type { Release } from '@reeve/helm'
import { getCondition } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import type { Decision } from '../decision/decide.ts'
import { type Ingredients, revisionMarks } from '../decision/revision-marks.ts'
import { collectorOf } from '../testing/collector.ts'
import { NOTHING_TO_REPORT } from './inspect-release.ts'
import { deriveStatus, type Findings } from './status.ts'

const MADE_FROM: Ingredients = { chartDigest: `sha256:${'c'.repeat(64)}`, valuesDigest: `sha256:${'a'.repeat(64)}` }
const RELEASE = { namespace: 'acme', name: 'metrics-eu1' }

const deployed: Release = {
  ...RELEASE,
  ...revisionMarks({ namespace: 'default', name: 'metrics' }, MADE_FROM),
  revision: 3,
  status: 'deployed',
  chart: { name: 'metrics', version: '1.2.0' },
  values: {},
  manifest: '',
  hooks: [],
}

const findings = (decision: Decision, parts: Partial<Findings> = {}): Findings => ({
  collector: collectorOf({ metadata: { generation: 7 } }),
  release: RELEASE,
  history: [deployed],
  workloads: NOTHING_TO_REPORT,
  decision,
  lastFailure: undefined,
  leftovers: [],
  ...parts,
})

function statusOf(of: Findings) {
  const status = deriveStatus(of, { now: () => 0 })
  // The type of the schema leaves the message open; the operator always writes one.
  const conditions = status.conditions as Parameters<typeof getCondition>[0]
  return { ...status, condition: (type: string) => getCondition(conditions, type) }
}

const CURRENT: Decision = { action: 'nothing', state: 'current' }

describe('the status', () => {
  it('has release, chart and digests of what is deployed, and the observed generation', () => {
    const status = statusOf(findings(CURRENT))
    expect(status).toMatchObject({
      phase: 'Available',
      observedGeneration: 7,
      releaseName: 'metrics-eu1',
      namespace: 'acme',
      revision: 3,
      chart: 'metrics-1.2.0',
      ...MADE_FROM,
    })
    for (const type of ['Ready', 'Available', 'Progressing', 'Degraded']) {
      expect(status.condition(type)?.observedGeneration).toBe(7)
    }
  })

  it('is not settled while another step has to follow, however well the old revision runs', () => {
    const status = statusOf(findings({ action: 'upgrade', why: 'changed' }))
    expect(status.phase).toBe('Progressing')
    expect(status.condition('Progressing')).toMatchObject({ status: 'True', reason: 'ReleaseOutdated' })
    expect(status.condition('Available')?.status).toBe('True')
  })

  it.each<[string, Partial<Findings>, string]>([
    ['objects that are missing', { workloads: { ...NOTHING_TO_REPORT, missing: ['Service web'] } }, 'Drifted'],
    ['objects that were changed', { workloads: { ...NOTHING_TO_REPORT, changed: ['Service web (spec)'] } }, 'Drifted'],
    [
      'workloads that do not become ready',
      { workloads: { ...NOTHING_TO_REPORT, health: 'stuck', notes: ['no'] } },
      'WorkloadsStuck',
    ],
    [
      'a failure, before anything else',
      {
        lastFailure: { reason: 'HelmTimeout', message: 'no', time: '2030-01-01T00:00:00Z', attempts: 2 },
        workloads: { ...NOTHING_TO_REPORT, missing: ['Service web'] },
      },
      'HelmTimeout',
    ],
  ])('is degraded by %s', (_, parts, reason) => {
    const status = statusOf(findings(CURRENT, parts))
    expect(status.condition('Degraded')).toMatchObject({ status: 'True', reason })
    expect(status.phase).toBe('Degraded')
  })

  it('names the owner of the release', () => {
    const other = statusOf(findings({ action: 'blocked', by: 'default/older' })).condition('Degraded')
    expect(other).toMatchObject({ reason: 'ReleaseClaimed', message: expect.stringContaining('default/older') })
    const stranger = statusOf(findings({ action: 'blocked', by: undefined })).condition('Degraded')
    expect(stranger).toMatchObject({ reason: 'ReleaseNotOwned' })
  })

  it('does not describe a release of another Collector', () => {
    const workloads = { ...NOTHING_TO_REPORT, health: 'progressing', notes: ['1 of 2 replicas ready'] } as const
    const status = statusOf(findings({ action: 'blocked', by: 'default/older' }, { workloads }))
    expect(status).not.toHaveProperty('revision')
    expect(status.condition('Available')).toMatchObject({ status: 'False', reason: 'NotInstalled' })
    expect(status.condition('Progressing')).toMatchObject({ status: 'False', reason: 'Settled' })
  })

  it('says why a release was rolled back, even if something else has failed since', () => {
    const failed = { time: '2030-01-01T00:00:00Z', attempts: 1 }
    const rolledBack = { ...failed, reason: 'WorkloadsStuck', message: 'the image does not exist' }
    const lastFailure = { ...failed, reason: 'HelmForbidden', message: 'the old release cannot be removed' }
    const status = statusOf(findings({ action: 'nothing', state: 'rolled-back' }, { rolledBack, lastFailure }))
    expect(status.condition('Degraded')?.message).toBe('rolled back, now at revision 3: the image does not exist')
    expect(status).toMatchObject({ rolledBack, lastFailure })
  })
})
