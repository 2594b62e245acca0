/** Untrusted values never change which object a path addresses. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigMaps, Deployments, Nodes } from './builtin-resources.ts'
import { InvalidRequestError } from './errors.ts'
import { collectionPath, objectPath, withQuery } from './request-path.ts'

describe('paths', () => {
  it('puts the core group under /api and the others under /apis', () => {
    expect(collectionPath(ConfigMaps, 'shop')).toBe('/api/v1/namespaces/shop/configmaps')
    expect(collectionPath(Deployments)).toBe('/apis/apps/v1/deployments')
    expect(objectPath(Nodes, { name: 'node-1' }, 'status')).toBe('/api/v1/nodes/node-1/status')
  })

  it('encodes names that are legal but special in a URL', () => {
    expect(objectPath(Nodes, { name: 'system:node?#' })).toBe('/api/v1/nodes/system%3Anode%3F%23')
  })

  it.each(['', '.', '..', 'a/b', 'a%2fb', '\ud800'])('rejects the name %j', (name) => {
    expect(() => objectPath(Nodes, { name })).toThrow(InvalidRequestError)
  })

  it('rejects a namespaced object without a namespace, which would address all namespaces', () => {
    expect(() => objectPath(ConfigMaps, { name: 'a' })).toThrow(/metadata.namespace is missing/)
  })

  it('rejects a namespace for a cluster-scoped kind', () => {
    expect(() => collectionPath(Nodes, 'shop')).toThrow(/cluster-scoped/)
  })

  it('keeps every accepted name in one segment that decodes to itself', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'binary' }),
        fc.string({ minLength: 1, unit: 'binary' }),
        (ns, name) => {
          let path: string
          try {
            path = objectPath(ConfigMaps, { namespace: ns, name })
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidRequestError)
            return
          }
          const segments = new URL(path, 'https://server').pathname.split('/').slice(1).map(decodeURIComponent)
          expect(segments).toEqual(['api', 'v1', 'namespaces', ns, 'configmaps', name])
        },
      ),
    )
  })

  it('omits unset parameters and encodes the rest', () => {
    const query = { a: undefined, b: '', c: false, limit: 5, labelSelector: 'x in (a,b)&y' }
    expect(withQuery('/p', query)).toBe('/p?limit=5&labelSelector=x%20in%20(a%2Cb)%26y')
    expect(withQuery('/p', {})).toBe('/p')
  })

  it('encodes every parameter so that it decodes to itself', () => {
    const wellFormed = fc.string({ minLength: 1, unit: 'binary' }).filter((value) => value.isWellFormed())
    fc.assert(
      fc.property(fc.dictionary(wellFormed, wellFormed), (query) => {
        const parsed = new URL(withQuery('/p', query), 'https://server').searchParams
        expect([...parsed.entries()].toSorted()).toEqual(Object.entries(query).toSorted())
      }),
    )
  })
})
