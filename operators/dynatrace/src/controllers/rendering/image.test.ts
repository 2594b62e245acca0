import { describe, expect, it } from 'vitest'
import { imageOf, isImage } from './image.ts'

describe('an image', () => {
  it('is composed of its parts, with defaults for missing ones', () => {
    expect(imageOf({ repository: 'a', tag: '1' })).toBe('a:1')
    expect(imageOf({ tag: '1' }, { repository: 'b', tag: '2' })).toBe('b:1')
  })

  it.each([
    ['agent:1.2', true],
    ['agent:1.2@sha256:abc', true],
    ['agent:1.20', false],
    [undefined, false],
  ])('%s is agent:1.2: %s', (image, expected) => {
    expect(isImage(image, 'agent:1.2')).toBe(expected)
  })
})
