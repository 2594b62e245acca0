import { DaemonSets, type KubeObject, type Stored } from '@reeve/kube'
import type { Change } from '@reeve/runtime/engine'
import { describe, expect, it } from 'vitest'
import { changeEvents } from './change-events.ts'

const written = (name: string, type: Change['type'] = 'updated'): Change => ({
  type,
  resource: DaemonSets,
  // Only kind and name are read.
  object: { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name } } as Stored<KubeObject>,
  differences: [],
})
const unchanged = { before: 'Running', after: 'Running', changes: [] }

describe('events about changes', () => {
  it('are not recorded when nothing changed', () => {
    expect(changeEvents(unchanged)).toEqual([])
  })

  it('report a new phase together with the objects that were written', () => {
    expect(changeEvents({ ...unchanged, before: 'Deploying', changes: [written('agents', 'created')] })).toEqual([
      { type: 'Normal', reason: 'Running', message: 'Deploying → Running: created DaemonSet agents' },
    ])
  })

  it('report objects that were written while the phase stays, and at most ten of them', () => {
    const changes = Array.from({ length: 12 }, (_, index) => written(`n${index}`))
    const [event, ...others] = changeEvents({ ...unchanged, changes })
    expect(others).toEqual([])
    expect(event).toMatchObject({ reason: 'Applied', message: expect.stringMatching(/^updated .*n9 and 2 more$/) })
  })

  it('leave a failure to the event of the controller', () => {
    expect(changeEvents({ ...unchanged, after: 'Error' })).toEqual([])
    expect(changeEvents({ ...unchanged, after: 'Error', changes: [written('agents')] })).toMatchObject([
      { reason: 'Applied' },
    ])
  })
})
