import { listing, scratchFolder } from '@reeve/archives/testing'
import type { Sender } from '@reeve/http'
import { describe, expect, it } from 'vitest'
import { parseDockerConfig } from './docker-config.ts'
import { pullLayer } from './pull-image.ts'
import { createRegistryClient, type RegistryClientOptions } from './registry-client.ts'
import { FakeRegistry } from './testing/fake-registry.ts'

const ORIGIN = 'https://registry.example'
const AMD64 = { os: 'linux', architecture: 'amd64' }
const ARM64 = { os: 'linux', architecture: 'arm64' }
const retries = { maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }
const account = (user: string, password: string, host = 'registry.example') =>
  parseDockerConfig(JSON.stringify({ auths: { [host]: { username: user, password } } }), 'Secret test')

function client(sender: Sender, options: RegistryClientOptions = {}) {
  return createRegistryClient({ sender, retries, env: {}, ...options })
}

describe('digests', () => {
  it('of an image for one platform is that of its manifest', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    const digest = registry.addImage('team/web', '1', [])
    expect(await client(registry).digest('registry.example/team/web:1')).toBe(digest)
  })

  it('of an image for several platforms is that of the index', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    const amd64 = registry.addImage('team/web', 'amd64', [])
    const arm64 = registry.addImage('team/web', 'arm64', [{ path: 'arm' }])
    const digest = registry.addIndex('team/web', '1', [
      { digest: amd64, platform: AMD64 },
      { digest: arm64, platform: ARM64 },
    ])
    const image = await client(registry).image('registry.example/team/web:1', { platform: ARM64 })
    expect(image.digest).toBe(digest)
    expect(registry.seen.at(-1)).toBe(`GET ${ORIGIN}/v2/team/web/manifests/${arm64}`)
    expect(await client(registry).labels(image)).toEqual({ version: 'arm64' })
  })

  it('are verified wherever one is known', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    const digest = registry.addImage('team/web', '1', [])
    const image = await client(registry).image(`registry.example/team/web@${digest}`)
    registry.tamper('/')
    const mismatch = { code: 'REGISTRY_DIGEST_MISMATCH' }
    await expect(client(registry).image(`registry.example/team/web@${digest}`)).rejects.toMatchObject(mismatch)
    await expect(client(registry).labels(image)).rejects.toMatchObject(mismatch)
    await using scratch = await scratchFolder()
    const [layer] = image.manifest.layers
    if (layer === undefined) throw new Error('the image has no layer')
    await expect(pullLayer(client(registry), image, layer, scratch.target)).rejects.toThrow()
  })
})

describe('tags', () => {
  it('of a repository are read to the last page', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    for (const tag of ['1.0', '1.1', 'latest']) registry.addImage('team/web', tag, [])
    registry.addImage('team/other', '9', [])
    const repository = { registry: 'registry.example', repository: 'team/web' }
    expect(await client(registry).tags(repository)).toEqual(['1.0', '1.1', 'latest'])
  })
})

describe('plain http', () => {
  const reference = { registry: 'localhost:5000', repository: 'team/web', tag: '1' }

  it.each([
    ['local', ['https', 'http']],
    ['never', ['https']],
    ['always', ['http']],
  ] as const)('is tried when it is allowed: %s', async (plainHttp, schemes) => {
    const registry = new FakeRegistry({ origin: 'http://localhost:5000' })
    registry.addImage('team/web', '1', [])
    const outcome = client(registry, { plainHttp }).digest(reference)
    if (plainHttp === 'never') await expect(outcome).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
    else await outcome
    const pings = registry.seen.filter((request) => request.endsWith('/v2/'))
    expect(pings).toEqual(schemes.map((scheme) => `GET ${scheme}://localhost:5000/v2/`))
  })
})

describe('a layer', () => {
  it.each(['application/zip', 'constructor', '__proto__'])('of type %s is not supported', async (mediaType) => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    const digest = registry.addImage('team/web', '1', [])
    const image = await client(registry).image(`registry.example/team/web@${digest}`)
    const layer = { mediaType, digest, size: 1 }
    await expect(pullLayer(client(registry), image, layer, 'unused')).rejects.toThrow(`${mediaType} is not supported`)
  })
})

describe('an image', () => {
  it('without the platform is an error that names what there is', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    registry.addIndex('team/web', '1', [{ digest: `sha256:${'0'.repeat(64)}`, platform: AMD64 }])
    await expect(client(registry).image('registry.example/team/web:1', { platform: ARM64 })).rejects.toMatchObject({
      code: 'REGISTRY_NO_PLATFORM',
      message: 'registry.example/team/web:1: no image for linux/arm64; available: linux/amd64',
    })
  })

  it('that does not exist is refused in the words of the registry', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    await expect(client(registry).digest('registry.example/team/web:1')).rejects.toMatchObject({
      code: 'REGISTRY_REFUSED',
      status: 404,
      reason: 'MANIFEST_UNKNOWN',
      message: 'registry manifest of registry.example: 404 MANIFEST_UNKNOWN no such',
    })
  })

  it.each([
    [{ config: {}, layers: [] }, /config must have required properties/],
    [{ manifests: [{ mediaType: 'x', digest: 'md5:1', size: 1 }] }, /digest that cannot be verified/],
  ])('with a manifest of another shape is a clear error', async (manifest, problem) => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    registry.addManifest('team/web', '1', manifest, 'application/json')
    await expect(client(registry).image('registry.example/team/web:1')).rejects.toThrow(problem)
  })

  it('is unpacked layer by layer', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    registry.addImage('team/web', '1', [{ path: 'opt/file', content: 'x' }])
    registry.addImage('team/web', 'zstd', [], 'application/vnd.oci.image.layer.v1.tar+zstd')
    await using scratch = await scratchFolder()
    const pull = async (tag: string) => {
      const image = await client(registry).image(`registry.example/team/web:${tag}`)
      for (const layer of image.manifest.layers) await pullLayer(client(registry), image, layer, scratch.target)
    }
    await pull('1')
    expect(await listing(scratch.target)).toEqual({ opt: '755 /', 'opt/file': '644 x' })
    await expect(pull('zstd')).rejects.toThrow(/tar\+zstd is not supported/)
  })
})

describe('authentication', () => {
  it('by password where the registry requires one', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN, auth: 'basic', account: 'me:password-1' })
    registry.addImage('team/web', '1', [])
    const credentials = account('me', 'password-1')
    await client(registry, { credentials }).digest('registry.example/team/web:1')
    await expect(client(registry).digest('registry.example/team/web:1')).rejects.toMatchObject({ status: 401 })
  })

  it('by a token for the repository, kept for the next call', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN, auth: 'bearer', account: 'me:password-1' })
    registry.addImage('team/web', '1', [])
    const own = client(registry, { credentials: account('me', 'password-1') })
    await own.digest('registry.example/team/web:1')
    await own.digest('registry.example/team/web:1')
    const tokenCalls = registry.seen.filter((call) => call.includes('/token'))
    expect(tokenCalls).toEqual([`GET ${ORIGIN}/token?service=fake%2C+with+comma&scope=repository%3Ateam%2Fweb%3Apull`])
  })

  it('anonymously, with a token as well', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN, auth: 'bearer' })
    registry.addImage('team/web', '1', [])
    await client(registry).digest('registry.example/team/web:1')
    expect(registry.tokens.size).toBe(1)
  })

  it('again with a new token when the old one is rejected', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN, auth: 'bearer' })
    registry.addImage('team/web', '1', [])
    const own = client(registry)
    await own.digest('registry.example/team/web:1')
    registry.tokens.clear()
    await own.digest('registry.example/team/web:1')
    expect(registry.tokens.size).toBe(1)
  })

  it('by an identity token', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN, auth: 'bearer', account: 'nobody:knows' })
    registry.addImage('team/web', '1', [])
    const auths = { 'registry.example': { identitytoken: 'identity-1' } }
    const credentials = parseDockerConfig(JSON.stringify({ auths }), 'Secret test')
    await client(registry, { credentials }).digest('registry.example/team/web:1')
    expect(registry.seen).toContain(`POST ${ORIGIN}/token`)
  })

  it('never shows a password', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN, auth: 'bearer', account: 'me:right' })
    const credentials = account('me', 'wrong-password')
    const error = await client(registry, { credentials })
      .digest('registry.example/team/web:1')
      .catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'REGISTRY_REFUSED', status: 401 })
    expect(`${error} ${JSON.stringify(error)}`).not.toContain('wrong-password')
  })
})

describe('mirrors', () => {
  const options = { mirrors: { 'registry.example': ['unreachable.example', 'mirror.example'] } }

  it('are tried first, in order', async () => {
    const registry = new FakeRegistry({ origin: 'https://mirror.example' })
    const digest = registry.addImage('team/web', '1', [])
    expect(await client(registry, options).digest('registry.example/team/web:1')).toBe(digest)
    expect(registry.seen[0]).toBe('GET https://unreachable.example/v2/')
  })

  it('are passed over when they do not have the image', async () => {
    const registry = new FakeRegistry({ origin: ORIGIN })
    const digest = registry.addImage('team/web', '1', [])
    expect(await client(registry, options).digest('registry.example/team/web:1')).toBe(digest)
  })

  it('are an error if their content does not match the digest', async () => {
    const registry = new FakeRegistry({ origin: 'https://mirror.example' })
    const digest = registry.addImage('team/web', '1', [])
    registry.tamper(digest)
    await expect(client(registry, options).digest(`registry.example/team/web@${digest}`)).rejects.toMatchObject({
      code: 'REGISTRY_DIGEST_MISMATCH',
    })
  })
})

it('a registry client tries plain http only for registries that can only be local', async () => {
  const registry = new FakeRegistry({ origin: 'http://localhost:5000' })
  const digest = registry.addImage('team/web', '1', [])
  expect(await client(registry).digest('localhost:5000/team/web:1')).toBe(digest)
  await expect(client(registry).digest('registry.example/team/web:1')).rejects.toMatchObject({
    code: 'HTTP_CONNECTION',
  })
  expect(registry.seen.at(-1)).toBe('GET https://registry.example/v2/')
})
