import { expect, it } from 'vitest'
import { type Machine, whyNoNode } from './requirements.ts'

const machine: Machine = { platform: 'linux', uid: 0, hasFile: () => true, hasProgram: () => true }

it('runs a node as root on Linux with all programs', () => {
  expect(whyNoNode(machine)).toBeUndefined()
})

it('says what is missing and how to get it', () => {
  expect(whyNoNode({ ...machine, platform: 'darwin' })).toMatch('needs Linux')
  expect(whyNoNode({ ...machine, uid: 1000 })).toMatch('as root')
  expect(whyNoNode({ ...machine, hasFile: () => false })).toMatch('cgroups')
  expect(whyNoNode({ ...machine, hasProgram: (name) => name !== 'ip' })).toBe(
    'Missing: ip. On Debian or Ubuntu: apt-get install iproute2',
  )
})
