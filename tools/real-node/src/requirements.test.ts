import { expect, it } from 'vitest'
import { type Machine, whyNoNode } from './requirements.ts'

const GIB = 1024 ** 3
const machine: Machine = {
  platform: 'linux',
  uid: 0,
  hasFile: () => true,
  hasProgram: () => true,
  osRelease: 'ID=debian\nVERSION_CODENAME=bookworm\n',
  memoryBytes: 8 * GIB,
}

it('a machine with root, Linux and all programs meets the requirements', () => {
  expect(whyNoNode(machine)).toBeUndefined()
})

it('the check of requirements says what is missing and how to get it', () => {
  expect(whyNoNode({ ...machine, platform: 'darwin' })).toMatch('needs Linux')
  expect(whyNoNode({ ...machine, uid: 1000 })).toMatch('as root')
  expect(whyNoNode({ ...machine, hasFile: () => false })).toMatch('cgroups')
  expect(whyNoNode({ ...machine, hasProgram: (name) => name !== 'ip' })).toBe(
    'Missing: ip. On Debian or Ubuntu: apt-get install iproute2',
  )
  expect(whyNoNode({ ...machine, hasProgram: (name) => !['unshare', 'setpriv'].includes(name) })).toBe(
    'Missing: unshare, setpriv. On Debian or Ubuntu: apt-get install util-linux',
  )
  expect(whyNoNode({ ...machine, osRelease: 'ID=ubuntu\nVERSION_CODENAME=noble\n' })).toMatch('Debian 12')
  expect(whyNoNode({ ...machine, memoryBytes: 2 * GIB })).toMatch('needs 6 GiB of memory; there are 2.0')
})
