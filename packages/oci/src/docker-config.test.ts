import { describe, expect, it } from 'vitest'
import { parseChallenge } from './challenge.ts'
import { credentialsFor, mergeDockerConfigs, parseDockerConfig } from './docker-config.ts'

const config = (auths: unknown) => parseDockerConfig(JSON.stringify({ auths }), 'Secret ns/pull')
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('docker configs', () => {
  it('give the credentials of the repository, else those of the registry, else none', () => {
    const parsed = config({
      'registry.example': { username: 'all', password: 'p' },
      'registry.example/team/web': { auth: base64('web:with:colons') },
      'https://index.docker.io/v1/': { auth: base64('hub:p') },
    })
    const of = (registry: string, repository: string) => credentialsFor(parsed, { registry, repository })
    expect(of('registry.example', 'team/web')).toEqual({ username: 'web', password: 'with:colons' })
    expect(of('registry.example', 'team/other')).toEqual({ username: 'all', password: 'p' })
    expect(of('index.docker.io', 'library/nginx')).toEqual({ username: 'hub', password: 'p' })
    expect(of('elsewhere.example', 'x')).toBeUndefined()
  })

  it('that come later win for the same registry', () => {
    const merged = mergeDockerConfigs([
      config({ a: { username: 'one' }, b: { username: 'one' } }),
      config({ a: { username: 'two' } }),
    ])
    expect([...merged.values()].map(({ username }) => username)).toEqual(['two', 'one'])
  })

  it.each([undefined, '', 'not json', '{"auths":[]}', '{"auths":{"a":{"auth":5}}}'])(
    'that are invalid are an error naming the secret: %s',
    (text) => {
      expect(() => parseDockerConfig(text, 'Secret ns/pull')).toThrow(
        expect.objectContaining({
          code: 'REGISTRY_CREDENTIALS',
          message: expect.stringMatching(/^Secret ns\/pull: .*\.dockerconfigjson/),
        }),
      )
    },
  )
})

it.each([
  [undefined, undefined],
  ['Negotiate', undefined],
  ['Basic realm="x"', { scheme: 'basic' }],
  ['Bearer realm="https://a/t",service="s, x"', { scheme: 'bearer', realm: 'https://a/t', service: 's, x' }],
  ['bearer service=s, realm=https://a/t', { scheme: 'bearer', realm: 'https://a/t', service: 's' }],
  [['Basic realm="x"', 'Bearer realm="https://a/t"'], { scheme: 'bearer', realm: 'https://a/t' }],
])('the challenge %j is read', (header, expected) => {
  expect(parseChallenge(header)).toEqual(expected)
})
