import { SimulatedClock } from '@reeve/runtime/testing'
import { expect, it } from 'vitest'
import { dynakube } from '../../api/testing/build.ts'
import { StatusDraft } from './status-draft.ts'

const draftOf = (status = {}) => StatusDraft.of(dynakube({}, { status }), new SimulatedClock())

it('forgets a part when its last member goes', () => {
  const draft = draftOf({ oneAgent: { version: '1' }, activeGate: { version: '1', serviceIPs: ['10.0.0.1'] } })
  draft.updateOneAgent({ version: undefined })
  draft.updateActiveGate({ version: undefined })
  expect(draft.status.oneAgent).toBeUndefined()
  expect(draft.status.activeGate).toEqual({ serviceIPs: ['10.0.0.1'] })
})

it('makes no part by taking away what is not there', () => {
  const draft = draftOf()
  draft.updateOneAgent({ version: undefined })
  expect(draft.status).toEqual({})
})
