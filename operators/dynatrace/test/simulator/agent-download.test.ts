import { createHash } from 'node:crypto'
import { request } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Entry, fromBuffer } from 'yauzl'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { callApi } from './support/simulator-client.ts'

const MIB = 1024 * 1024
/** Where the size does not matter. */
const AGENT_BYTES = MIB / 4
let simulator: TenantSimulator

beforeAll(async () => {
  simulator = await startTenantSimulator({
    tenants: [
      { id: 'abc12345', tenantToken: 'tenant-secret', agentSizeBytes: AGENT_BYTES },
      { id: 'large', agentSizeBytes: 128 * MIB },
    ],
  })
})

afterAll(() => simulator.close())

const VERSION = '1.321.57.20250812-101530'
const path = (query: string, version = VERSION) =>
  `/v1/deployment/installer/agent/unix/paas/version/${version}?${query}`
const CSI = 'flavor=multidistro&arch=x86&bitness=64&skipMetadata=true&include=all'

interface UnpackedFile {
  readonly mode: number
  readonly method: number
  readonly content: Buffer
}

/** Reads every entry through yauzl, which checks sizes and checksums. */
function unzip(bytes: Buffer): Promise<ReadonlyMap<string, UnpackedFile>> {
  return new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true, decodeStrings: true }, (openError, zip) => {
      if (openError !== null) return reject(openError)
      const files = new Map<string, UnpackedFile>()
      const keep = (entry: Entry, content: Buffer) => {
        const { compressionMethod: method, externalFileAttributes } = entry
        files.set(entry.fileName, { mode: (externalFileAttributes >>> 16) & 0o777, method, content })
        zip.readEntry()
      }
      zip.on('entry', (entry: Entry) => {
        if (entry.fileName.endsWith('/')) return keep(entry, Buffer.alloc(0))
        zip.openReadStream(entry, (error, stream) => {
          if (error !== null) return reject(error)
          const chunks: Buffer[] = []
          stream.on('data', (chunk: Buffer) => chunks.push(chunk))
          stream.on('error', reject)
          stream.on('end', () => keep(entry, Buffer.concat(chunks)))
        })
      })
      zip.on('error', reject)
      zip.on('end', () => resolve(files))
      zip.readEntry()
    })
  })
}

describe('the ZIP of an agent', () => {
  test('has the layout that provisioner and bootstrapper expect', async () => {
    const reply = await callApi(simulator, path(CSI))
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/octet-stream'])
    const files = await unzip(reply.bytes)
    expect(files.get(`agent/bin/${VERSION}/`)?.mode).toBe(0o755)
    expect(files.get('agent/installer.version')?.content.toString()).toBe(VERSION)
    expect(files.get('agent/lib64/liboneagentproc.so')?.mode).toBe(0o755)
    const config = files.get('agent/conf/ruxitagentproc.conf')?.content.toString()
    expect(config).toContain('[general]\n')
    expect(config).toContain('\nlibraryPath64 "../lib64/liboneagentproc.so"\n')
    for (const platform of ['linux-x86-64', 'linux-musl-x86-64']) {
      const library = files.get(`agent/bin/${VERSION}/${platform}/liboneagentjava.so`)
      expect([library?.mode, library?.content.length]).toEqual([0o755, Math.floor(AGENT_BYTES / 20)])
    }
    // Unpackers make folders when they are named, so each has to come before what is in it.
    const seen = new Set(['./'])
    for (const name of files.keys()) {
      const parent = name.replace(/[^/]+\/?$/, '') || './'
      expect([...seen]).toContain(parent)
      seen.add(name)
    }
  })

  test('carries a manifest whose digests are right', async () => {
    const files = await unzip((await callApi(simulator, path(CSI))).bytes)
    const manifest = JSON.parse(files.get('manifest.json')?.content.toString() ?? '') as {
      version: string
      technologies: Record<string, Record<string, { path: string; version: string; md5: string }[]>>
    }
    expect(manifest.version).toBe(VERSION)
    const listed = Object.values(manifest.technologies).flatMap((byArch) => Object.values(byArch).flat())
    expect(listed.length).toBeGreaterThan(40)
    for (const { path: name, md5 } of listed) {
      expect([
        name,
        createHash('md5')
          .update(files.get(name)?.content ?? '')
          .digest('hex'),
      ]).toEqual([name, md5])
    }
    const java = manifest.technologies.java?.['linux-x86-64']?.map(({ path: name }) => name)
    expect(java).toContain('agent/conf/ruxitagentproc.conf')
    expect(java).toContain('agent/installer.version')
  })

  test('is tenant neutral when metadata is skipped, and only then', async () => {
    const shared = await unzip((await callApi(simulator, path(CSI))).bytes)
    const all = [...shared.values()].map(({ content }) => content.toString('latin1')).join('')
    expect(all).not.toContain('tenant-secret')
    expect(shared.get('agent/conf/ruxitagentproc.conf')?.content.toString()).not.toMatch(/tenant/i)
    const own = await unzip((await callApi(simulator, path(CSI.replace('true', 'false')))).bytes)
    expect(own.get('agent/conf/ruxitagentproc.conf')?.content.toString()).toContain('tenantToken tenant-secret')
    expect(own.get('agent/conf/standalone.conf')?.content.toString()).toContain('tenant abc12345')
  })

  test('contains the requested technologies, flavor and architecture', async () => {
    const query = 'flavor=default&arch=arm&bitness=64&skipMetadata=true&include=java&include=nginx'
    const names = [...(await unzip((await callApi(simulator, path(query))).bytes)).keys()]
    const libraries = names.filter((name) => /^agent\/bin\/.*\.so$/.test(name))
    expect(libraries).toEqual([
      `agent/bin/${VERSION}/linux-aarch64/liboneagentjava.so`,
      `agent/bin/${VERSION}/linux-aarch64/liboneagentnginx.so`,
    ])
  })

  test('stores what does not shrink and compresses what does', async () => {
    const files = await unzip((await callApi(simulator, path(CSI))).bytes)
    expect(files.get('manifest.json')?.method).toBe(8)
    expect(files.get(`agent/bin/${VERSION}/linux-x86-64/liboneagentjava.so`)?.method).toBe(0)
  })

  test('is the same every time and differs between versions', async () => {
    const first = await callApi(simulator, path(CSI))
    const again = await callApi(simulator, path(CSI))
    const older = await callApi(simulator, path(CSI, '1.319.68.20250714-093015'))
    expect(again.bytes.equals(first.bytes)).toBe(true)
    expect(again.headers.etag).toBe(first.headers.etag)
    expect(older.headers.etag).not.toBe(first.headers.etag)
    expect((await unzip(older.bytes)).has('agent/bin/1.319.68.20250714-093015/')).toBe(true)
  })

  test('is also available as the newest one', async () => {
    const latest = `/v1/deployment/installer/agent/unix/paas/latest?bitness=64&flavor=multidistro&arch=x86&skipMetadata=true`
    expect((await callApi(simulator, latest)).headers.etag).toBe((await callApi(simulator, path(CSI))).headers.etag)
  })

  test.each([
    ['a version that does not exist', path(CSI, '1.2.3.4-5'), 404],
    ['an invalid version', path(CSI, 'newest'), 400],
    ['an unknown technology', path('include=cobol'), 400],
    ['an unknown flavor', path('flavor=cherry'), 400],
  ])('%s is refused in JSON', async (_name, wrong, status) => {
    const reply = await callApi(simulator, wrong)
    expect([reply.status, reply.json()]).toMatchObject([status, { error: { code: status } }])
  })
})

describe('a download', () => {
  test('is not repeated for a client that has it', async () => {
    const { etag } = (await callApi(simulator, path(CSI))).headers
    const reply = await callApi(simulator, path(CSI), { headers: { 'if-none-match': String(etag) } })
    expect([reply.status, reply.bytes.length]).toEqual([304, 0])
    const changed = await callApi(simulator, path(CSI), { headers: { 'if-none-match': '"other"' } })
    expect(changed.status).toBe(200)
  })

  test('is resumed where it stopped, across the borders of entries', async () => {
    const whole = await callApi(simulator, path(CSI))
    const middle = Math.floor(whole.bytes.length / 2)
    const parts: Buffer[] = []
    for (const range of [`bytes=0-${middle - 1}`, `bytes=${middle}-`]) {
      const reply = await callApi(simulator, path(CSI), { headers: { range, 'if-range': String(whole.headers.etag) } })
      expect(reply.status).toBe(206)
      expect(reply.headers['content-range']).toMatch(new RegExp(`/${whole.bytes.length}$`))
      parts.push(reply.bytes)
    }
    expect(Buffer.concat(parts).equals(whole.bytes)).toBe(true)
  })

  test('starts over when the file has changed since, and is refused beyond its end', async () => {
    const stale = await callApi(simulator, path(CSI), { headers: { range: 'bytes=100-', 'if-range': '"old"' } })
    expect(stale.status).toBe(200)
    const beyond = await callApi(simulator, path(CSI), { headers: { range: 'bytes=99999999-' } })
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${stale.bytes.length}`])
  })

  test('can be announced without being sent', async () => {
    const whole = await callApi(simulator, path(CSI))
    const head = await callApi(simulator, path(CSI), { method: 'HEAD' })
    expect([head.status, head.bytes.length]).toEqual([200, 0])
    expect(head.headers['content-length']).toBe(String(whole.bytes.length))
  })

  test('passes through without staying in memory', async () => {
    const { value = '' } = simulator.tenant('large').tokens.get('apiToken') ?? {}
    const url = `${simulator.url('large')}${path(CSI)}`
    const before = process.memoryUsage().rss
    let peak = before
    let received = 0
    await new Promise<void>((resolve, reject) => {
      const options = { ca: simulator.caCertificate, headers: { authorization: `Api-Token ${value}` }, agent: false }
      request(url, options, (incoming) => {
        incoming.on('data', (chunk: Buffer) => {
          // Measuring at every chunk would cost more than the download.
          if (received % (4 * MIB) < chunk.length) peak = Math.max(peak, process.memoryUsage.rss())
          received += chunk.length
        })
        incoming.on('error', reject)
        incoming.on('end', resolve)
      })
        .on('error', reject)
        .end()
    })
    expect(received).toBeGreaterThan(127 * MIB)
    expect((peak - before) / MIB).toBeLessThan(96)
    expect(simulator.calls().at(-1)?.sentBytes).toBe(received)
  }, 240_000)

  test('can be read at its far end without being sent up to there', async () => {
    const head = await callApi(simulator, path(CSI), { tenant: 'large', method: 'HEAD' })
    expect(Number(head.headers['content-length'])).toBeGreaterThan(128 * MIB)
    const end = await callApi(simulator, path(CSI), { tenant: 'large', headers: { range: 'bytes=-22' } })
    // The record that ends a ZIP.
    expect([end.status, end.bytes.length, end.bytes.readUInt32LE(0)]).toEqual([206, 22, 0x06054b50])
  }, 240_000)

  test('stops when the client disconnects', async () => {
    const { value = '' } = simulator.tenant('large').tokens.get('apiToken') ?? {}
    const options = { ca: simulator.caCertificate, headers: { authorization: `Api-Token ${value}` }, agent: false }
    await new Promise<void>((resolve, reject) => {
      const outgoing = request(`${simulator.url('large')}${path(CSI)}`, options, (incoming) => {
        incoming.once('data', () => {
          incoming.destroy()
          resolve()
        })
      })
      outgoing.on('error', reject).end()
    })
    await expect.poll(() => simulator.calls().at(-1)?.sentBytes, { timeout: 20_000 }).toBeGreaterThan(0)
    expect(simulator.calls().at(-1)?.sentBytes).toBeLessThan(64 * MIB)
  })
})
