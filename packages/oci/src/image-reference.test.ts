import { describe, expect, it } from 'vitest'
import { parseImageReference } from './image-reference.ts'
import { registryOrigins } from './registry-host.ts'

const DIGEST = `sha256:${'a1'.repeat(32)}`

describe('parseImageReference', () => {
  it.each([
    ['nginx', { registry: 'index.docker.io', repository: 'library/nginx', tag: 'latest' }],
    ['team/web:1', { registry: 'index.docker.io', repository: 'team/web', tag: '1' }],
    ['docker.io/team/web', { registry: 'index.docker.io', repository: 'team/web', tag: 'latest' }],
    ['localhost/web', { registry: 'localhost', repository: 'web', tag: 'latest' }],
    ['host:8443/linux/oneagent:1.2.3-raw', { registry: 'host:8443', repository: 'linux/oneagent', tag: '1.2.3-raw' }],
    [`registry.example/a/b@${DIGEST}`, { registry: 'registry.example', repository: 'a/b', digest: DIGEST }],
    [`registry.example/a:1@${DIGEST}`, { registry: 'registry.example', repository: 'a', tag: '1', digest: DIGEST }],
  ])('reads %s', (text, expected) => {
    expect(parseImageReference(text)).toEqual(expected)
  })

  it.each([
    '',
    'UPPER',
    'a b',
    'registry.example/',
    'a:',
    'a@sha256:12',
    `a@${DIGEST}@${DIGEST}`,
    'a/../b',
    'https://a/b',
  ])('refuses %j', (text) => {
    expect(() => parseImageReference(text)).toThrow(expect.objectContaining({ code: 'REGISTRY_REFERENCE' }))
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
