import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatImageReference, parseImageReference, splitImageName } from './image-reference.ts'
import { registryOrigins } from './registry-host.ts'

const DIGEST = `sha256:${'a1'.repeat(32)}`

describe('an image reference', () => {
  it.each([
    ['nginx', { registry: 'index.docker.io', repository: 'library/nginx' }],
    ['team/web:1', { registry: 'index.docker.io', repository: 'team/web', tag: '1' }],
    ['docker.io/team/web', { registry: 'index.docker.io', repository: 'team/web' }],
    ['team/shop:v1_2-rc.1', { registry: 'index.docker.io', repository: 'team/shop', tag: 'v1_2-rc.1' }],
    ['localhost/web', { registry: 'localhost', repository: 'web' }],
    ['localhost:5000/shop', { registry: 'localhost:5000', repository: 'shop' }],
    ['[::1]:5000/shop:1', { registry: '[::1]:5000', repository: 'shop', tag: '1' }],
    ['host:8443/linux/oneagent:1.2.3-raw', { registry: 'host:8443', repository: 'linux/oneagent', tag: '1.2.3-raw' }],
    [`registry.example/a/b@${DIGEST}`, { registry: 'registry.example', repository: 'a/b', digest: DIGEST }],
    [`registry.example/a:1@${DIGEST}`, { registry: 'registry.example', repository: 'a', tag: '1', digest: DIGEST }],
    [`a@sha384:${'0'.repeat(96)}`, { repository: 'library/a', digest: `sha384:${'0'.repeat(96)}` }],
  ])('%s is taken apart', (text, expected) => {
    expect(parseImageReference(text)).toMatchObject(expected)
  })

  it.each([
    '',
    'UPPER',
    'Nginx:1',
    ' nginx',
    'nginx:1 ',
    'a b',
    'registry.example/',
    'a:',
    'nginx:1:2',
    'nginx:-1',
    'a@sha256:12',
    `a@SHA256:${'0'.repeat(64)}`,
    `a@${DIGEST}@${DIGEST}`,
    // With `library/` in front of it, it is longer than a repository may be.
    'x'.repeat(250),
    'a/../b',
    'a//b',
    '/nginx',
    'https://a/b',
    `n:${'x'.repeat(600)}`,
    `${'a/'.repeat(200)}b`,
  ])('%j is invalid', (text) => {
    expect(() => parseImageReference(text)).toThrow(expect.objectContaining({ code: 'REGISTRY_REFERENCE' }))
  })

  it('is short enough to be read again in full, with the tag that it leaves out', () => {
    const host = `${'x'.repeat(250)}.example/`
    const repository = (length: number) => 'a'.repeat(length - host.length - ':latest'.length)
    const longest = formatImageReference(parseImageReference(host + repository(512)))
    expect(formatImageReference(parseImageReference(longest))).toBe(longest)
    expect(() => parseImageReference(host + repository(513))).toThrow('is not an image reference')
  })

  it('is composed from its parts', () => {
    const unit = fc.constantFrom('a', '-', '.', '_', '/', ':', '@', '1')
    fc.assert(
      fc.property(fc.string({ maxLength: 600, unit }), (text) => {
        const { registry, repository, tag, digest } = splitImageName(text)
        const start = registry === undefined ? '' : `${registry}/`
        const end = `${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`
        expect(`${start}${repository}${end}`).toBe(text)
      }),
    )
  })
})

it.each([
  ['registry.example', 1],
  ['localhost', 1],
  ['localhost:5000', 2],
  ['127.0.0.1:5000', 2],
  ['10.1.2.3', 2],
  ['172.16.0.1', 2],
  ['172.32.0.1', 1],
  ['192.168.1.1:80', 2],
  ['8.8.8.8', 1],
  ['registry.local', 2],
  ['notlocal', 1],
])('%s has %i ways to be reached', (registry, ways) => {
  expect(registryOrigins(registry)).toHaveLength(ways)
})
