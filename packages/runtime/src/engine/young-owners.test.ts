import type { KubeObject, Stored } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { YoungOwners } from './young-owners.ts'

const CREATED_MS = Date.parse('2030-01-01T00:00:00Z')
const owner = (uid: string, creationTimestamp: string | undefined = '2030-01-01T00:00:00Z') =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name: uid, uid, resourceVersion: '1', ...(creationTimestamp && { creationTimestamp }) },
  }) as Stored<KubeObject>

describe('an owner', () => {
  it('is trusted to exist in its first minute', () => {
    const owners = new YoungOwners()
    expect(owners.isTrusted(owner('a'), CREATED_MS + 59_000)).toBe(true)
    expect(owners.isTrusted(owner('a'), CREATED_MS + 60_000)).toBe(false)
  })

  it('is trusted when the clock of the server is ahead', () => {
    expect(new YoungOwners().isTrusted(owner('a'), CREATED_MS - 5_000)).toBe(true)
  })

  it('is read from the server once something was created for it', () => {
    const owners = new YoungOwners()
    owners.remember(owner('a'))
    expect(owners.isTrusted(owner('a'), CREATED_MS)).toBe(false)
    expect(owners.isTrusted(owner('b'), CREATED_MS)).toBe(true)
  })

  it.each(['', 'not a time'])('whose time of creation is "%s" is not trusted', (creationTimestamp) => {
    expect(new YoungOwners().isTrusted(owner('a', creationTimestamp), CREATED_MS)).toBe(false)
  })
})

it('remembers a bounded number of owners', () => {
  const owners = new YoungOwners(2)
  for (const uid of ['a', 'b', 'c']) owners.remember(owner(uid))
  expect(['a', 'b', 'c'].map((uid) => owners.isTrusted(owner(uid), CREATED_MS))).toEqual([true, false, false])
})
