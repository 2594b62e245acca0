/** Charts from every kind of source, over real TLS with a private authority. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { type ChartSource, ChartStore, type ChartStoreOptions, type ResolvedChart } from '@reeve/helm'
import { ChartServer, packChart } from '@reeve/helm/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownCertificate } from '../src/testing/own-certificate.ts'
import { webChart, writeChart } from './support/chart-files.ts'

import { helmPath } from './support/helm-session.ts'

const login = { username: 'jane', password: 'hunter2' }
const one = packChart({ name: 'web', version: '1.0.0' }, webChart())
const two = packChart({ name: 'web', version: '1.10.0' }, webChart('1.10.0'))
const preview = packChart({ name: 'web', version: '2.0.0-rc.1+b.1' }, webChart('2.0.0-rc.1+b.1'))

let folder: string
let server: ChartServer

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-charts-'))
  server = await ChartServer.start(login)
  server.add('web', '1.10.0', two)
  server.add('web', '1.0.0', one)
  server.add('web', '2.0.0-rc.1+b.1', preview)
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const store = (options: ChartStoreOptions = {}) =>
  new ChartStore(join(folder, 'cache'), { env: {}, freshMs: 0, ...options })
const credentials = () => ({ ...login, certificateAuthority: server.certificate })
const failureOf = (source: ChartSource, charts = store()) => charts.resolve(source).catch((error: unknown) => error)

/** The same chart from both kinds of server. */
const remote = {
  repository: (version?: string): ChartSource => ({
    type: 'repository',
    url: server.repository,
    chart: 'web',
    credentials: credentials(),
    ...(version !== undefined && { version }),
  }),
  oci: (version?: string): ChartSource => ({
    type: 'oci',
    url: server.oci('web'),
    credentials: credentials(),
    ...(version !== undefined && { version }),
  }),
}

async function bytesOf({ path }: ResolvedChart): Promise<Buffer> {
  return readFile(path)
}

describe.each(['repository', 'oci'] as const)('a source of type %s', (type) => {
  test('returns the newest release by default, and a version, range or pre-release when requested', async () => {
    const charts = store()
    const newest = await charts.resolve(remote[type]())
    expect(newest).toMatchObject({ name: 'web', version: '1.10.0', appVersion: '7', fromCache: false })
    expect(newest.sourceFailure).toBeUndefined()
    expect(await bytesOf(newest)).toEqual(two)
    expect(await bytesOf(await charts.resolve(remote[type]('1.0.0')))).toEqual(one)
    expect(await bytesOf(await charts.resolve(remote[type]('~1.0')))).toEqual(one)
    expect(await bytesOf(await charts.resolve(remote[type]('2.0.0-rc.1+b.1')))).toEqual(preview)
  })

  test('is not called again for cached content', async () => {
    await store().resolve(remote[type]())
    const before = server.requests.length
    expect(await store().resolve(remote[type]())).toMatchObject({ fromCache: true, version: '1.10.0' })
    const downloads = server.requests.slice(before).filter((path) => /blobs|\.tgz$/.test(path))
    expect(downloads).toEqual([])
  })

  test('that cannot be reached is replaced by the cache, and that is said', async () => {
    const known = await store().resolve(remote[type]())
    const source = remote[type]()
    await server.stop()
    const chart = await store().resolve(source)
    expect(chart).toMatchObject({ path: known.path, digest: known.digest, version: '1.10.0', fromCache: true })
    expect(chart.sourceFailure).toMatchObject({ code: 'HELM_CHART_UNREACHABLE' })
    expect(await failureOf({ ...source, version: '1.0.0' } as ChartSource)).toMatchObject({
      code: 'HELM_CHART_UNREACHABLE',
    })
  })

  test('that rejects the credentials is not replaced by the cache', async () => {
    await store().resolve(remote[type]())
    const source = { ...remote[type](), credentials: { ...credentials(), password: 'wrong-one' } } as ChartSource
    const error = await failureOf(source)
    expect(error).toMatchObject({ code: 'HELM_CHART_REFUSED' })
    expect(String(error)).not.toContain('wrong-one')
  })

  test('with a certificate of an unknown authority is not trusted', async () => {
    const error = await failureOf({ ...remote[type](), credentials: login } as ChartSource)
    expect(error).toMatchObject({ code: 'HELM_CHART_REFUSED', message: expect.stringContaining('ca.crt') })
  })

  test('gives nothing from the cache to others, whatever they do to the connection', async () => {
    const charts = store({ freshMs: 60_000 })
    const { digest } = await charts.resolve(remote[type]())
    const ask = (credentials?: object, more = {}) =>
      failureOf({ ...remote[type](), credentials, ...more } as ChartSource, charts)
    const { certificate } = await ownCertificate('127.0.0.1')
    const refused = { code: 'HELM_CHART_REFUSED' }
    expect(await ask()).toMatchObject(refused)
    expect(await ask({ certificateAuthority: certificate })).toMatchObject(refused)
    expect(await ask({ certificateAuthority: 'nonsense' })).toMatchObject({ code: expect.stringContaining('HELM_') })
    expect(await ask({ certificateAuthority: server.certificate }, { digest })).toMatchObject(refused)
    const known = credentials()
    await server.stop()
    expect(await ask()).toMatchObject({ code: 'HELM_CHART_UNREACHABLE' })
    expect(await ask({ ...known, password: 'wrong' })).toMatchObject({ code: 'HELM_CHART_UNREACHABLE' })
    expect(await ask({ ...known, password: 'wrong' }, { digest })).toMatchObject({ code: 'HELM_CHART_UNREACHABLE' })
    expect(await ask(known)).toMatchObject({ digest })
  })

  test('gives nothing of another source that it only names by its digest', async () => {
    const { digest } = await store().resolve(remote.repository('1.0.0'))
    await using other = await ChartServer.start()
    other.add('web', '1.0.0', one)
    // Whoever knows the digest of a chart can write it into an index of their own.
    for (const path of [`/v2/team/web/blobs/${digest}`, '/charts/files/web-1.0.0.tgz']) {
      other.overrides.set(path, { status: 404 })
    }
    const url = type === 'oci' ? other.oci('web') : other.repository
    const theirs = { ...remote[type]('1.0.0'), url, credentials: { certificateAuthority: other.certificate } }
    expect(await failureOf(theirs as ChartSource)).toMatchObject({ code: 'HELM_CHART_NOT_FOUND' })
    expect(await failureOf({ ...theirs, digest } as ChartSource)).toMatchObject({ code: 'HELM_CHART_NOT_FOUND' })
  })

  test('reports an unknown version', async () => {
    expect(await failureOf(remote[type]('^9'))).toMatchObject({ code: 'HELM_CHART_NOT_FOUND' })
    expect(await failureOf(remote[type]('9.9.9'))).toMatchObject({ code: 'HELM_CHART_NOT_FOUND' })
  })

  test('that delivers other bytes than it announces is rejected, and nothing is cached', async () => {
    const path = type === 'oci' ? /blobs/ : /\.tgz$/
    await store().resolve(remote[type]())
    const address = server.requests.find((request) => path.test(request)) ?? ''
    await rm(join(folder, 'cache'), { recursive: true })
    server.overrides.set(address, { status: 200, body: one })
    expect(await failureOf(remote[type]())).toMatchObject({ code: 'HELM_DIGEST_MISMATCH' })
    expect(await readdir(join(folder, 'cache')).catch(() => [])).toEqual([])
  })

  test('that delivers another chart than requested is rejected', async () => {
    server.add('other', '1.0.0', one)
    const source =
      type === 'oci' ? { ...remote.oci(), url: server.oci('other') } : { ...remote.repository(), chart: 'other' }
    expect(await failureOf(source as ChartSource)).toMatchObject({ code: 'HELM_CHART_INVALID' })
  })

  test('that delivers more than allowed is cut off', async () => {
    expect(await failureOf(remote[type](), store({ maxChartBytes: 100 }))).toMatchObject({ code: 'HELM_CHART_INVALID' })
  })

  test('that never responds fails after a deadline', async () => {
    const schedule = (_delayMs: number, action: () => void) => {
      action()
      return { cancel: () => undefined }
    }
    const impatient = { now: () => Date.now(), schedule }
    expect(await failureOf(remote[type](), store({ clock: impatient }))).toMatchObject({
      code: 'HELM_CHART_UNREACHABLE',
    })
  })

  test('gets one request from concurrent callers', async () => {
    const charts = store({ freshMs: 60_000 })
    const chosen = await Promise.all(Array.from({ length: 20 }, () => charts.resolve(remote[type]())))
    const asked = server.requests.length
    await charts.resolve(remote[type]())
    expect(server.requests.length).toBe(asked)
    expect(new Set(chosen.map(({ path }) => path)).size).toBe(1)
    expect(server.requests.filter((path) => /blobs|\.tgz$/.test(path))).toHaveLength(1)
    // A chart that was removed from the cache is fetched again.
    await rm(chosen[0]?.path ?? '')
    expect(await bytesOf(await charts.resolve(remote[type]()))).toEqual(two)
  })

  test.skipIf(helmPath === undefined)('gives the same bytes as the real helm (skipped without helm)', async () => {
    await using open = await ChartServer.start()
    open.add('web', '1.0.0', one)
    const ca = join(folder, 'ca.crt')
    await writeFile(ca, open.certificate)
    const what = type === 'oci' ? [open.oci('web')] : ['web', `--repo=${open.repository}`]
    const args = ['pull', ...what, '--version=1.0.0', `--ca-file=${ca}`, `--destination=${folder}`]
    await promisify(execFile)(helmPath ?? '', args, { env: { HOME: folder } })
    const url = type === 'oci' ? open.oci('web') : open.repository
    const ours = await store().resolve({
      ...remote[type]('1.0.0'),
      url,
      credentials: { certificateAuthority: open.certificate },
    } as ChartSource)
    expect(await readFile(join(folder, 'web-1.0.0.tgz'))).toEqual(await bytesOf(ours))
  })
})

describe('a pinned address', () => {
  const source = (digest: string): ChartSource => ({
    type: 'url',
    url: `${server.repository}/files/web-1.0.0.tgz`,
    digest,
    credentials: credentials(),
  })

  test('returns exactly the bytes of the digest, and later without a request', async () => {
    const { digest } = await store().resolve(remote.repository('1.0.0'))
    await rm(join(folder, 'cache'), { recursive: true })
    expect(await bytesOf(await store().resolve(source(digest)))).toEqual(one)
    const pinned = source(digest)
    await server.stop()
    const chart = await store().resolve(pinned)
    expect(chart).toMatchObject({ fromCache: true, digest })
    expect(chart.sourceFailure).toBeUndefined()
  })

  test('with other bytes is rejected', async () => {
    expect(await failureOf(source(`sha256:${'0'.repeat(64)}`))).toMatchObject({ code: 'HELM_DIGEST_MISMATCH' })
    expect(await failureOf(source('latest'))).toMatchObject({ code: 'HELM_INVALID_REQUEST' })
  })

  test('must be https, redirects included', async () => {
    const digest = `sha256:${'0'.repeat(64)}`
    expect(await failureOf({ type: 'url', url: 'http://127.0.0.1/web.tgz', digest })).toMatchObject({
      code: 'HELM_CHART_REFUSED',
    })
    server.overrides.set('/charts/files/web-1.0.0.tgz', {
      status: 302,
      headers: { location: 'http://127.0.0.1/web.tgz' },
    })
    expect(await failureOf(source(digest))).toMatchObject({ code: 'HELM_CHART_REFUSED' })
  })

  test('does not send the password to a host that it redirects to', async () => {
    const { digest } = await store().resolve(remote.repository('1.0.0'))
    await rm(join(folder, 'cache'), { recursive: true })
    // The same server under another name: another origin, which requires the password and must not get it.
    const location = `https://localhost:${server.host.split(':')[1]}/charts/files/web-1.0.0.tgz?again`
    server.overrides.set('/charts/files/first.tgz', { status: 307, headers: { location } })
    const error = await failureOf({ ...source(digest), url: `${server.repository}/files/first.tgz` } as ChartSource)
    expect(error).toMatchObject({ code: 'HELM_CHART_REFUSED' })
  })

  test('does not contain a password', async () => {
    const error = await failureOf({
      ...source(`sha256:${'0'.repeat(64)}`),
      url: 'https://jane:hunter2@127.0.0.1/x',
    } as ChartSource)
    expect(error).toMatchObject({ code: 'HELM_CHART_INVALID' })
    expect(String(error)).not.toContain('hunter2')
  })
})

describe('an OCI source', () => {
  test('may be pinned by the digest of its manifest or of its archive', async () => {
    const { digest } = await store().resolve(remote.oci('1.0.0'))
    const pin = (text: string) => ({ ...remote.oci('1.0.0'), digest: text }) as ChartSource
    expect(await store().resolve(pin(digest))).toMatchObject({ digest, fromCache: true })
    expect(await store().resolve(pin(server.manifestDigest('web', '1.0.0')))).toMatchObject({ digest })
    expect(await failureOf(pin(`sha256:${'0'.repeat(64)}`))).toMatchObject({ code: 'HELM_DIGEST_MISMATCH' })
  })

  test.each(['oci://host', 'https://host/web', 'oci://host/../web', 'oci://user@host/web', ''])(
    'rejects the URL %j',
    async (url) => {
      expect(await failureOf({ type: 'oci', url, version: '1.0.0' })).toMatchObject({ code: 'HELM_CHART_INVALID' })
    },
  )

  test('that is not a chart is rejected', async () => {
    server.overrides.set('/v2/team/web/manifests/1.0.0', {
      status: 200,
      body: '{"layers":[{"mediaType":"x","digest":"y"}]}',
    })
    expect(await failureOf(remote.oci('1.0.0'))).toMatchObject({ code: 'HELM_CHART_INVALID' })
  })
})

describe('a chart on this machine', () => {
  test('is a folder, whose digest changes with any of its files', async () => {
    const path = await writeChart(join(folder, 'web'), webChart())
    const first = await store().resolve({ type: 'directory', path })
    const fromHere = await store().resolve({ type: 'directory', path: relative(process.cwd(), path) })
    expect(fromHere).toMatchObject({ path, digest: first.digest })
    expect(first).toMatchObject({ path, name: 'web', version: '1.0.0', fromCache: false })
    expect((await store().resolve({ type: 'directory', path })).digest).toBe(first.digest)
    await writeFile(join(path, 'templates', 'more.yaml'), '')
    expect((await store().resolve({ type: 'directory', path })).digest).not.toBe(first.digest)
  })

  test('may be an archive, which is copied for Helm', async () => {
    const path = join(folder, 'web.tgz')
    await writeFile(path, one)
    const chart = await store().resolve({ type: 'archive', path })
    await writeFile(path, two)
    expect(await bytesOf(chart)).toEqual(one)
    expect(await failureOf({ type: 'archive', path, digest: chart.digest })).toMatchObject({
      code: 'HELM_DIGEST_MISMATCH',
    })
  })

  test('that does not exist and one that is not a chart fail with different errors', async () => {
    expect(await failureOf({ type: 'archive', path: join(folder, 'nope.tgz') })).toMatchObject({
      code: 'HELM_CHART_NOT_FOUND',
    })
    expect(await failureOf({ type: 'directory', path: folder })).toMatchObject({ code: 'HELM_CHART_NOT_FOUND' })
    await writeFile(join(folder, 'text.tgz'), 'text')
    expect(await failureOf({ type: 'archive', path: join(folder, 'text.tgz') })).toMatchObject({
      code: 'HELM_CHART_INVALID',
    })
  })
})
