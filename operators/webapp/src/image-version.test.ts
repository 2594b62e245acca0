import { describe, expect, it } from 'vitest'
import { imageVersion } from './image-version.ts'

const DIGEST = `sha256:${'a1'.repeat(32)}`

describe('the version of an image', () => {
  it.each([
    ['nginx', {}],
    ['docker.io/team/web', {}],
    ['localhost:5000/shop', {}],
    ['team/shop:v1_2-rc.1', { tag: 'v1_2-rc.1' }],
    ['[::1]:5000/shop:1', { tag: '1' }],
    ['Registry.example/a/b:1', { tag: '1' }],
    [`registry.example/a/b@${DIGEST}`, { digest: DIGEST }],
    [`registry.example/a:1@${DIGEST}`, { tag: '1', digest: DIGEST }],
    [`a@sha384:${'0'.repeat(96)}`, { digest: `sha384:${'0'.repeat(96)}` }],
  ])('of %s', (reference, version) => {
    expect(imageVersion(reference)).toEqual(version)
  })

  it.each([
    '',
    'Nginx:1',
    'Team/web:1',
    ' nginx',
    'nginx:1 ',
    'a:',
    'nginx:1:2',
    'nginx:-1',
    'a@sha256:12',
    `a@${DIGEST}@${DIGEST}`,
    'registry.example/',
    'not_a_host.example/web:1',
    'host:123456/web:1',
    'a/../b',
    'a//b',
    '/nginx',
    'https://a/b',
    'x'.repeat(256),
    `n:${'x'.repeat(600)}`,
  ])('%j has none', (reference) => {
    expect(imageVersion(reference)).toBeUndefined()
  })
})
