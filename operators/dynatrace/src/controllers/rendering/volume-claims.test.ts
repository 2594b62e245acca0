import { expect, it } from 'vitest'
import { ANNOTATIONS } from './annotations.ts'
import { claimed, DEFAULT_CLAIM } from './volume-claims.ts'

const hashOf = (...parameters: Parameters<typeof claimed>) => claimed(...parameters).annotations[ANNOTATIONS.claimsHash]

it('the hash of a volume claim is the one that installations carry', () => {
  expect(hashOf('ag-tmp-gateway', DEFAULT_CLAIM)).toBe('257705630')
  expect(hashOf('agent-runtime', DEFAULT_CLAIM)).toBe('2127461063')
})

it('the hash of a volume claim follows from its meaning, not from how it is written', () => {
  const reordered = { resources: { requests: { storage: '1024Mi' } }, accessModes: ['ReadWriteOnce'] } as const
  expect(hashOf('agent-runtime', reordered)).toBe('2127461063')
  expect(hashOf('agent-runtime', { ...reordered, storageClassName: '' })).not.toBe('2127461063')
})
