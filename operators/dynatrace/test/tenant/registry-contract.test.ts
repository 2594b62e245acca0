/** The registry client against the simulated registry, over real sockets. */
import { listing, scratchFolder } from '@reeve/archives/testing'
import {
  createRegistryClient,
  parseDockerConfig,
  parseImageReference,
  pullLayer,
  type RegistryClientOptions,
} from '@reeve/oci'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startForwardProxy } from './support/forward-proxy.ts'
import { QUICK, type Simulated, simulated, TENANT } from './support/simulated.ts'

const PUBLIC = 'dynatrace/dynatrace-codemodules'
const PRIVATE = 'linux/oneagent'

let tenant: Simulated
beforeAll(async () => {
  tenant = await simulated()
})
afterAll(() => tenant[Symbol.asyncDispose]())

function newest(repository: string, { simulator } = tenant) {
  const tag = simulator.registry.tags(repository)?.at(-1) ?? ''
  return {
    reference: simulator.registry.reference(repository, tag),
    digest: simulator.registry.digest(repository, tag),
  }
}

function client({ simulator, token }: Simulated, options: RegistryClientOptions = {}) {
  const auths = { [simulator.authority]: { username: TENANT, password: token('apiToken') } }
  return createRegistryClient({
    trustedCertificates: simulator.caCertificate,
    credentials: parseDockerConfig(JSON.stringify({ auths }), 'Secret test'),
    env: {},
    retries: QUICK,
    ...options,
  })
}

describe('the registry client', () => {
  it('resolves public images anonymously', async () => {
    await using registry = client(tenant, { credentials: new Map() })
    const { reference, digest } = newest(PUBLIC)
    expect(await registry.digest(reference)).toBe(digest)
    await expect(registry.digest(newest(PRIVATE).reference)).rejects.toMatchObject({
      code: 'REGISTRY_REFUSED',
      status: 401,
    })
  })

  it('resolves private images with the pull secret', async () => {
    await using registry = client(tenant)
    const { reference, digest } = newest(PRIVATE)
    expect(await registry.digest(reference)).toBe(digest)
    const { repository } = parseImageReference(reference)
    expect(await registry.digest(`${tenant.simulator.authority}/${repository}@${digest}`)).toBe(digest)
  })

  it('speaks Basic where the registry does', async () => {
    await using basic = await simulated({ registry: { auth: 'basic' } })
    await using registry = client(basic)
    const { reference, digest } = newest(PRIVATE, basic)
    expect(await registry.digest(reference)).toBe(digest)
  })

  it('unpacks the code modules out of their image', async () => {
    await using registry = client(tenant)
    const image = await registry.image(newest(PUBLIC).reference, { platform: { os: 'linux', architecture: 'amd64' } })
    expect(Object.keys(await registry.labels(image)).length).toBeGreaterThan(0)
    const found: string[] = []
    for (const layer of image.manifest.layers) {
      await using scratch = await scratchFolder()
      await pullLayer(registry, image, layer, scratch.target)
      found.push(...Object.keys(await listing(scratch.target)))
    }
    expect(found).toContainEqual(expect.stringMatching(/agent\/bin\/[\d.]+-\d+$/))
  })

  it('comes through a proxy with a password', async () => {
    const host = 'registry.tenant.example'
    await using named = await simulated({ tls: { hosts: [host] } })
    await using proxy = await startForwardProxy({ account: 'me:pw', names: { [host]: '127.0.0.1' } })
    await using registry = client(named, { proxy: { url: `http://me:pw@${proxy.address}` } })
    const { reference, digest } = newest(PRIVATE, named)
    expect(await registry.digest(reference)).toBe(digest)
    expect(proxy.seen).toContain(`CONNECT ${named.simulator.authority}`)
  })

  it('refuses a registry whose authority it does not know', async () => {
    await using registry = client(tenant, { trustedCertificates: '' })
    // The address is a local one, so plain http is tried as well; the simulator does not speak it.
    await expect(registry.digest(newest(PUBLIC).reference)).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
  })

  it.each(['rate-limit', 'status', 'cut'] as const)('survives %s', async (kind) => {
    const fault =
      kind === 'status'
        ? ({ kind, status: 503 } as const)
        : kind === 'rate-limit'
          ? { kind, retryAfterSeconds: 0 }
          : { kind }
    tenant.simulator.faults.add({ ...fault, operation: 'registry-manifest', times: 1 })
    await using registry = client(tenant)
    const { reference, digest } = newest(PUBLIC)
    expect(await registry.digest(reference)).toBe(digest)
  })

  it('does not take half a layer for a whole one', async () => {
    tenant.simulator.faults.add({ kind: 'cut', operation: 'registry-blob', afterBytes: 1_000 })
    await using registry = client(tenant)
    const image = await registry.image(newest(PUBLIC).reference, { platform: { os: 'linux', architecture: 'amd64' } })
    const read = async () => {
      for await (const chunk of registry.blob(image, image.manifest.layers.at(-1) ?? image.manifest.config)) void chunk
    }
    await expect(read()).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
    tenant.simulator.faults.clear()
  })
})
