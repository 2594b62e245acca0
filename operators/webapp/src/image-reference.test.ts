import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseImageReference } from './image-reference.ts'

const DIGEST = `sha256:${'a1'.repeat(32)}`

describe('an image reference', () => {
  it.each([
    ['nginx', { repository: 'nginx' }],
    ['nginx:1.29', { repository: 'nginx', tag: '1.29' }],
    ['team/shop:v1_2-rc.1', { repository: 'team/shop', tag: 'v1_2-rc.1' }],
    ['registry.example.com:5000/team/shop:1', { repository: 'registry.example.com:5000/team/shop', tag: '1' }],
    ['localhost:5000/shop', { repository: 'localhost:5000/shop' }],
    [`shop@${DIGEST}`, { repository: 'shop', digest: DIGEST }],
    [`host.example/shop:1@${DIGEST}`, { repository: 'host.example/shop', tag: '1', digest: DIGEST }],
    ['[::1]:5000/shop:1', { repository: '[::1]:5000/shop', tag: '1' }],
  ])('%s is taken apart', (text, parts) => {
    expect(parseImageReference(text)).toEqual({ tag: undefined, digest: undefined, ...parts })
  })

  it.each([
    '',
    ' nginx',
    'nginx:',
    'nginx:1:2',
    'Nginx:1',
    'nginx:-1',
    'nginx@sha256:short',
    'a//b',
    '/nginx',
    'nginx:1 ',
    `n:${'x'.repeat(600)}`,
  ])('%j is none', (text) => {
    expect(parseImageReference(text)).toBeUndefined()
  })

  it('is put together again from its parts, and parsing never takes long', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 600, unit: fc.constantFrom('a', '-', '.', '_', '/', ':', '@', '1') }),
        (text) => {
          const parsed = parseImageReference(text)
          if (parsed === undefined) return
          const { repository, tag, digest } = parsed
          expect(`${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`).toBe(
            text,
          )
        },
      ),
    )
  })
})
