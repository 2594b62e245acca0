import { expect, it } from 'vitest'
import { dynakube } from '../../api/testing/build.ts'
import { updateActiveGate, updateOneAgent } from './status-parts.ts'
import { reporterOf } from './testing/reporter.ts'

it('a part of the status is removed with its last member', () => {
  const status = { oneAgent: { version: '1' }, activeGate: { version: '1', serviceIPs: ['10.0.0.1'] } }
  const reporter = reporterOf(dynakube({}, { status }))
  updateOneAgent(reporter, { version: undefined })
  updateActiveGate(reporter, { version: undefined })
  expect(reporter.status?.oneAgent).toBeUndefined()
  expect(reporter.status?.activeGate).toEqual({ serviceIPs: ['10.0.0.1'] })
})

it('no part of the status is created by removing a member that does not exist', () => {
  const reporter = reporterOf(dynakube({}, { status: {} }))
  updateOneAgent(reporter, { version: undefined })
  expect(reporter.status).toEqual({})
})
