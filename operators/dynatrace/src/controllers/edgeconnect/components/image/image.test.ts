import { DOCKER_CONFIG_KEY, type RegistryClientOptions, RegistryCredentialsError } from '@reeve/oci'
import { describe, expect, it } from 'vitest'
import type { EdgeConnectSpec, EdgeConnectStatus } from '../../../../api/latest.ts'
import { edgeConnect } from '../../../../api/testing/build.ts'
import { resolveImage } from './image.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const DIGEST = `sha256:${'0'.repeat(64)}`
const DEFAULT_IMAGE = 'docker.io/dynatrace/edgeconnect:latest'

/** A status whose registry was checked some minutes ago. */
const probed = (imageID: string, minutesAgo: number): EdgeConnectStatus => ({
  version: {
    imageID,
    source: 'public-registry',
    lastProbeTimestamp: new Date(NOW_MS - minutesAgo * MINUTE_MS).toISOString(),
  },
})

interface World {
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The response of the registry. @default a digest */
  readonly answer?: () => Promise<string>
}

/** Resolves in a namespace with the given Secrets; returns which registries were called, and the warnings. */
async function resolve(spec: Partial<EdgeConnectSpec>, status: EdgeConnectStatus = {}, world: World = {}) {
  const asked: { readonly image: string; readonly options: RegistryClientOptions }[] = []
  const warnings: unknown[] = []
  const version = await resolveImage(edgeConnect(spec, status), {
    view: { namespace: 'dynatrace', secret: (name) => world.secrets?.[name] },
    clock: { now: () => NOW_MS },
    logger: { warn: (...said: unknown[]) => void warnings.push(said) },
    signal: new AbortController().signal,
    openRegistry: (options) =>
      ({
        digest: (image: string) => {
          asked.push({ image, options })
          return world.answer?.() ?? Promise.resolve(DIGEST)
        },
        [Symbol.asyncDispose]: async () => undefined,
        // As much of a client as is used here.
      }) as unknown as ReturnType<Parameters<typeof resolveImage>[1]['openRegistry']>,
  })
  return { version, images: asked.map(({ image }) => image), options: asked.map(({ options }) => options), warnings }
}

describe('the image of an EdgeConnect', () => {
  it('is pinned by its digest unless it is of the user', async () => {
    const plain = await resolve({})
    expect(plain.version).toMatchObject({ imageID: `${DEFAULT_IMAGE}@${DIGEST}`, source: 'public-registry' })
    const tagged = await resolve({ imageRef: { tag: '1.2' } })
    expect(tagged.images).toEqual(['docker.io/dynatrace/edgeconnect:1.2'])
    const own = await resolve({ imageRef: { repository: 'registry.example.com/mine' } })
    expect(own.version).toMatchObject({ imageID: 'registry.example.com/mine:latest', source: 'custom-image' })
    expect(own.images).toEqual([])
    expect(own.version).not.toHaveProperty('version')
  })

  it.each([
    ['never resolved', {}, {}, 1],
    ['14 minutes old', {}, probed(`${DEFAULT_IMAGE}@${DIGEST}`, 14), 0],
    ['15 minutes old', {}, probed(`${DEFAULT_IMAGE}@${DIGEST}`, 15), 1],
    ['old, but not to be updated', { autoUpdate: false }, probed(`${DEFAULT_IMAGE}@${DIGEST}`, 99), 0],
    ['of another tag', { imageRef: { tag: '2' }, autoUpdate: false }, probed(`${DEFAULT_IMAGE}@${DIGEST}`, 0), 1],
  ] as const)('that is %s is looked up accordingly', async (_, spec, status, times) => {
    expect((await resolve(spec, status)).images).toHaveLength(times)
  })

  it('is kept when its registry is unavailable, which is retried later', async () => {
    const away = { answer: () => Promise.reject(new Error('away')) }
    const before = `${DEFAULT_IMAGE}@${DIGEST}`
    const { version, warnings } = await resolve({}, probed(before, 20), away)
    expect(version).toMatchObject({ imageID: before, lastProbeTimestamp: '2026-01-01T00:00:00Z' })
    expect(warnings).toHaveLength(1)
    await expect(resolve({}, {}, away)).rejects.toThrow('away')
  })
})

describe('a pull secret', () => {
  const spec = { customPullSecret: 'pull' }
  const auths = { 'index.docker.io': { username: 'u', password: 'p' } }

  it('is used where it has credentials', async () => {
    const secrets = { pull: { [DOCKER_CONFIG_KEY]: JSON.stringify({ auths }) } }
    const [options] = (await resolve(spec, {}, { secrets })).options
    expect([...(options?.credentials?.keys() ?? [])]).toEqual(['index.docker.io'])
  })

  it('that does not exist causes anonymous requests to the registry', async () => {
    expect((await resolve(spec)).options.map(({ credentials }) => credentials)).toEqual([undefined])
  })

  it.each([
    ['without its key', {}],
    ['without a docker config', { [DOCKER_CONFIG_KEY]: '{' }],
  ])('%s is an error, also when no registry is called', async (_, pull) => {
    const secrets = { pull }
    await expect(resolve(spec, {}, { secrets })).rejects.toThrow(RegistryCredentialsError)
    const fresh = probed(`${DEFAULT_IMAGE}@${DIGEST}`, 0)
    await expect(resolve(spec, fresh, { secrets })).rejects.toThrow('Secret dynatrace/pull')
    const own = { ...spec, imageRef: { repository: 'registry.example.com/mine' } }
    await expect(resolve(own, {}, { secrets })).rejects.toThrow(RegistryCredentialsError)
  })
})
