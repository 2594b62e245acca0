import { describe, expect, it } from 'vitest'
import { ignoring } from './ignored-fields.ts'

const map = {
  metadata: { name: 'cache', namespace: 'default', annotations: { 'example.com/checked': 'now', kept: 'yes' } },
  data: { a: '1' },
}

describe('what a scenario ignores', () => {
  it('can be a field of all objects of a resource', () => {
    const kept = ignoring(['configmaps metadata.annotations."example.com/checked"'])('configmaps', map)
    expect(kept).toEqual({ ...map, metadata: { ...map.metadata, annotations: { kept: 'yes' } } })
  })

  it('can be an object, or a field of one object', () => {
    expect(ignoring(['configmaps default/cache'])('configmaps', map)).toBeUndefined()
    expect(ignoring(['configmaps default/cache data'])('configmaps', map)).toEqual({ metadata: map.metadata })
    expect(ignoring(['configmaps default/other data'])('configmaps', map)).toEqual(map)
    expect(ignoring(['secrets data'])('configmaps', map)).toEqual(map)
  })

  it('must name both', () => {
    expect(() => ignoring(['configmaps'])).toThrow('ignore: "configmaps" must be a resource and a field')
  })
})
