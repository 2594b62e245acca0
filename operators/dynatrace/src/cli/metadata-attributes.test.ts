import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeLines, MetadataAttributesError } from './metadata-attributes.ts'

describe('attributes of a node', () => {
  it('go one to a line, without the space around them', () => {
    expect(attributeLines(' k=v , x=y=z ')).toBe('k=v\nx=y=z\n')
  })

  it('may be separated by more than one comma', () => {
    expect(attributeLines(',a=1,, ,b=,')).toBe('a=1\nb=\n')
  })

  it.each(['', ' ', ',', ' , '])('are needed: %j has none', (list) => {
    expect(() => attributeLines(list)).toThrow(/is empty; write key=value/)
  })

  it('are all rejected when one is invalid, and the error names it', () => {
    expect(() => attributeLines('a=1,foo,b=2')).toThrow(MetadataAttributesError)
    expect(() => attributeLines('a=1,foo,b=2')).toThrow(/"foo"/)
  })

  it('are found again in the file, in their order', () => {
    const text = fc.stringMatching(/^[a-z0-9._/=-]{1,12}$/)
    const attribute = fc.tuple(fc.stringMatching(/^[a-z.]{1,8}$/), text).map(([key, value]) => `${key}=${value}`)
    fc.assert(
      fc.property(fc.array(attribute, { minLength: 1 }), (attributes) => {
        expect(attributeLines(attributes.join(',')).split('\n')).toEqual([...attributes, ''])
      }),
    )
  })
})
