import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { t as list, type ReadEntry } from 'tar'
import { afterEach, describe, expect, test } from 'vitest'
import { type RegistryOptions, startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { digestOf } from '../../src/tenant/simulator/registry/image.ts'
import { type Reply, type SendOptions, send } from './support/simulator-client.ts'

let simulator: TenantSimulator

async function start(registry: RegistryOptions = {}): Promise<void> {
  simulator = await startTenantSimulator({ registry })
}

afterEach(() => simulator.close())

const VERSION = '1.321.57.20250812-101530'
const CODE_MODULES = 'dynatrace/dynatrace-codemodules'
const ACCEPT = 'application/vnd.oci.image.index.v1+json,application/vnd.oci.image.manifest.v1+json'
const basic = () => {
  const { value = '' } = simulator.tenant('abc12345').tokens.get('apiToken') ?? {}
  return `Basic ${Buffer.from(`abc12345:${value}`).toString('base64')}`
}

const get = (path: string, headers: SendOptions['headers'] = {}, method = 'GET') =>
  send(simulator, `https://${simulator.registry.host}${path}`, { headers: { accept: ACCEPT, ...headers }, method })

/** Follows the challenge of a refusal, as every client of a registry does. */
async function pull(path: string, credentials?: string): Promise<Reply> {
  const refused = await get(path)
  if (refused.status !== 401) return refused
  const challenge = String(refused.headers['www-authenticate'])
  const part = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? ''
  const query = new URLSearchParams({ service: part('service'), scope: part('scope') })
  const response = await send(simulator, `${part('realm')}?${query}`, {
    ...(credentials !== undefined && { headers: { authorization: credentials } }),
  })
  if (response.status !== 200) return response
  const { token } = response.json() as { token: string }
  return get(path, { authorization: `Bearer ${token}` })
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly architecture: string; readonly os: string }
}

function expectBytes({ digest, size }: Descriptor, { status, bytes }: Reply): void {
  expect([status, bytes.length, digestOf(bytes)]).toEqual([200, size, digest])
}

async function entriesOf(layer: Buffer): Promise<ReadonlyMap<string, { mode: number; content: Buffer }>> {
  const entries = new Map<string, { mode: number; content: Buffer }>()
  const parser = list({
    onReadEntry(entry: ReadEntry) {
      const chunks: Buffer[] = []
      entry.on('data', (chunk: Buffer) => chunks.push(chunk))
      entry.on('end', () => entries.set(entry.path, { mode: entry.mode ?? 0, content: Buffer.concat(chunks) }))
    },
  })
  const done = new Promise<void>((resolve, reject) => {
    parser.on('end', resolve)
    parser.on('error', reject)
  })
  Readable.from([gunzipSync(layer)]).pipe(parser)
  await done
  return entries
}

describe('an image of code modules', () => {
  test('is pulled from index to layer, and every digest is right', async () => {
    await start()
    const index = await pull(`/v2/${CODE_MODULES}/manifests/${VERSION}`)
    expect(index.headers['content-type']).toBe('application/vnd.oci.image.index.v1+json')
    expect(index.headers['docker-content-digest']).toBe(digestOf(index.bytes))
    expect(simulator.registry.digest(CODE_MODULES, VERSION)).toBe(digestOf(index.bytes))
    const { manifests } = index.json() as { manifests: Descriptor[] }
    expect(manifests.map(({ platform }) => `${platform?.os}/${platform?.architecture}`)).toEqual([
      'linux/amd64',
      'linux/arm64',
      'linux/ppc64le',
      'linux/s390x',
    ])
    for (const descriptor of manifests) {
      const manifest = await pull(`/v2/${CODE_MODULES}/manifests/${descriptor.digest}`)
      expectBytes(descriptor, manifest)
      const { config, layers } = manifest.json() as { config: Descriptor; layers: Descriptor[] }
      expect(layers.map(({ mediaType }) => mediaType)).toEqual(['application/vnd.oci.image.layer.v1.tar+gzip'])
      for (const blob of [config, ...layers]) expectBytes(blob, await pull(`/v2/${CODE_MODULES}/blobs/${blob.digest}`))
    }
  })

  test('has the agent where provisioners expect it, folders first', async () => {
    await start()
    const index = (await pull(`/v2/${CODE_MODULES}/manifests/${VERSION}`)).json() as { manifests: Descriptor[] }
    const arm = index.manifests.find(({ platform }) => platform?.architecture === 'arm64')
    const manifest = (await pull(`/v2/${CODE_MODULES}/manifests/${arm?.digest}`)).json() as {
      config: Descriptor
      layers: Descriptor[]
    }
    const config = (await pull(`/v2/${CODE_MODULES}/blobs/${manifest.config.digest}`)).json()
    const layer = await pull(`/v2/${CODE_MODULES}/blobs/${manifest.layers[0]?.digest}`)
    expect(config).toMatchObject({
      architecture: 'arm64',
      config: { Labels: { 'com.dynatrace.type': 'codemodules', 'com.dynatrace.build-version': VERSION } },
      rootfs: { diff_ids: [digestOf(gunzipSync(layer.bytes))] },
    })
    const entries = await entriesOf(layer.bytes)
    const root = 'opt/dynatrace/oneagent/'
    expect(entries.get(`${root}agent/installer.version`)?.content.toString()).toBe(VERSION)
    expect(entries.has(`${root}agent/bin/${VERSION}/linux-aarch64/liboneagentjava.so`)).toBe(true)
    expect(entries.get(`${root}agent/lib64/liboneagentproc.so`)?.mode).toBe(0o755)
    expect(JSON.parse(entries.get(`${root}manifest.json`)?.content.toString() ?? '')).toMatchObject({
      version: VERSION,
    })
    const seen = new Set([''])
    for (const path of entries.keys()) {
      expect([...seen]).toContain(path.replace(/[^/]+\/?$/, ''))
      seen.add(path)
    }
  })
})

describe('access', () => {
  test('to a tenant’s own images needs the tenant and one of its tokens', async () => {
    await start()
    const path = '/v2/linux/oneagent/manifests/1.321.57-raw'
    expect((await pull(path)).status).toBe(401)
    expect((await pull(path, `Basic ${Buffer.from('abc12345:wrong').toString('base64')}`)).status).toBe(401)
    expect((await pull(path, basic())).status).toBe(200)
  })

  test('by a token for one repository does not open another', async () => {
    await start()
    const scope = encodeURIComponent('repository:linux/oneagent:pull')
    const response = await get(`/registry/token?scope=${scope}`, { authorization: basic() })
    const authorization = `Bearer ${(response.json() as { token: string }).token}`
    expect((await get('/v2/linux/oneagent/manifests/1.321.57-raw', { authorization })).status).toBe(200)
    const refused = await get('/v2/linux/activegate/manifests/1.321.42-raw', { authorization })
    expect(refused.status).toBe(401)
    expect(refused.json()).toMatchObject({ errors: [{ code: 'UNAUTHORIZED' }] })
    expect(refused.headers['www-authenticate']).toContain('scope="repository:linux/activegate:pull"')
  })

  test('is also available by user and password with every request', async () => {
    await start({ auth: 'basic' })
    const refused = await get('/v2/')
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Basic realm="simulator"'])
    expect((await get('/v2/', { authorization: basic() })).status).toBe(200)
    const path = '/v2/linux/activegate/manifests/1.321.42-raw'
    expect((await get(path, { authorization: basic() })).status).toBe(200)
  })

  test('can be left open', async () => {
    await start({ auth: 'none' })
    expect((await get('/v2/')).status).toBe(200)
    expect((await get('/v2/linux/oneagent/manifests/1.321.57-raw')).status).toBe(200)
  })

  test('leaves no password in the calls', async () => {
    await start()
    await pull('/v2/linux/oneagent/manifests/1.321.57-raw', basic())
    const { value = '' } = simulator.tenant('abc12345').tokens.get('apiToken') ?? {}
    expect(JSON.stringify(simulator.calls())).not.toContain(value)
    expect(simulator.calls()).toContainEqual(
      expect.objectContaining({ operation: 'registry-token', token: 'apiToken' }),
    )
  })
})

describe('the registry', () => {
  test('announces manifests and blobs without sending them, and sends parts of blobs', async () => {
    await start({ auth: 'none' })
    const path = `/v2/dynatrace/edgeconnect/manifests/latest`
    const head = await get(path, {}, 'HEAD')
    expect([head.status, head.bytes.length]).toEqual([200, 0])
    expect(head.headers['docker-content-digest']).toBe(simulator.registry.digest('dynatrace/edgeconnect', 'latest'))
    const { manifests } = (await get(path)).json() as { manifests: Descriptor[] }
    const manifest = (await get(`/v2/dynatrace/edgeconnect/manifests/${manifests[0]?.digest}`)).json()
    const [layer] = (manifest as { layers: Descriptor[] }).layers
    const part = await get(`/v2/dynatrace/edgeconnect/blobs/${layer?.digest}`, { range: 'bytes=2-5' })
    expect([part.status, part.bytes.length]).toEqual([206, 4])
  })

  test('lists tags in pages', async () => {
    await start({ auth: 'none' })
    const first = await get(`/v2/${CODE_MODULES}/tags/list?n=2`)
    expect(first.json()).toMatchObject({ name: CODE_MODULES, tags: { length: 2 } })
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(first.headers.link)) ?? []
    const second = await get(next)
    expect([second.json(), second.headers.link]).toMatchObject([{ tags: [VERSION] }, undefined])
  })

  test.each([
    ['a tag', `/v2/${CODE_MODULES}/manifests/nothing`, 'MANIFEST_UNKNOWN'],
    ['a digest', `/v2/${CODE_MODULES}/manifests/sha256:${'0'.repeat(64)}`, 'MANIFEST_UNKNOWN'],
    ['a blob', `/v2/${CODE_MODULES}/blobs/sha256:${'0'.repeat(64)}`, 'BLOB_UNKNOWN'],
    ['a repository', '/v2/no/such/thing/tags/list', 'NAME_UNKNOWN'],
  ])('does not find %s that does not exist', async (_name, path, code) => {
    await start({ auth: 'none' })
    const reply = await get(path)
    expect([reply.status, reply.json()]).toMatchObject([404, { errors: [{ code }] }])
  })

  test('does not send an index to a client that cannot read one', async () => {
    await start({ auth: 'none' })
    const path = `/v2/${CODE_MODULES}/manifests/${VERSION}`
    const reply = await get(path, { accept: 'application/vnd.docker.distribution.manifest.v2+json' })
    expect(reply.status).toBe(404)
  })

  test('offers the images of a new release, and images of one’s own for one platform', async () => {
    await start({ auth: 'none' })
    simulator.tenant('abc12345').versions.release('1.400.1.20260101-000000')
    expect((await get('/v2/linux/oneagent/manifests/1.400.1-raw')).status).toBe(200)
    simulator.registry.addImage('custom/modules', 'mine', {
      labels: {},
      entrypoint: ['/run'],
      architectures: ['amd64'],
      files: () => [{ path: 'run', mode: 0o755, content: Buffer.from('x') }],
    })
    const reply = await get('/v2/custom/modules/manifests/mine')
    expect(reply.headers['content-type']).toBe('application/vnd.oci.image.manifest.v1+json')
    expect(simulator.registry.reference('custom/modules', 'mine')).toBe(`${simulator.authority}/custom/modules:mine`)
    expect(() => simulator.registry.digest('custom/modules', 'other')).toThrow(/unknown image custom\/modules:other/)
  })
})
