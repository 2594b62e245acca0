import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOf, hashOfOrdered, rawHash, secureHashOf } from './hashes.ts'

describe('the hash of a value', () => {
  it.each([
    ['test-token', '1333712845'],
    [{ a: 'b' }, '1728003852'],
    ['', '796313381'],
    [null, '784127654'],
    [{ 'edgeConnect.yaml': 'bmFtZTogZWMK' }, '1409133921'],
    ['a<b>&c', '757974698'],
    ['password123', '3695814360'],
    ['dt0c01.abc.def', '2844084240'],
    [{ 'tls.crt': Buffer.from('a').toString('base64') }, '3792258515'],
  ])('of %j is what installations carry', (value, hash) => {
    expect(hashOf(value)).toBe(hash)
  })

  it('does not depend on the order of keys', () => {
    const maps = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true })
    fc.assert(
      fc.property(maps, (map) => {
        expect(hashOf(Object.fromEntries(Object.entries(map).reverse()))).toBe(hashOf(map))
      }),
    )
  })

  it('can keep the order of keys where that counts', () => {
    const claim = { metadata: { name: 'ag-tmp-gateway' }, spec: {}, status: {} }
    expect(hashOfOrdered(claim)).not.toBe(hashOfOrdered({ status: {}, spec: {}, metadata: claim.metadata }))
  })
})

it('raw bytes are hashed', () => {
  expect(rawHash('password123')).toBe('65206054')
})

it('secure hashes do not reveal the value', () => {
  expect(secureHashOf('password123')).toBe('4a61f9cdf3d1802b')
  expect(secureHashOf('http://proxy:8080')).toBe('c22caa7c88414df4')
  expect(secureHashOf('proxy:3128')).toBe('7883a4805f44c093')
})
