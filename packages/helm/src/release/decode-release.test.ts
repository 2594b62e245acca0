import { gzipSync } from 'node:zlib'
import type { Secret } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { ReleaseRecordError } from '../errors.ts'
import { encodeRelease } from '../testing/encode-release.ts'
import { decodeHistory, decodeRelease, readReleaseLabels } from './decode-release.ts'

const key = { namespace: 'tenant-a', name: 'web' }

function withData(bytes: Buffer | string): Secret {
  const release = Buffer.from(Buffer.from(bytes).toString('base64')).toString('base64')
  return { ...encodeRelease(key), data: { release } }
}

describe('decodeRelease', () => {
  it('reads a record', () => {
    const release = {
      ...key,
      revision: 7,
      status: 'failed',
      chart: { name: 'web', version: '1.2.3', appVersion: '4' },
      values: { replicas: 2 },
      manifest: 'kind: A\n',
      hooks: ['kind: Job\n'],
      description: 'Upgrade failed',
      firstDeployed: '2026-01-02T03:04:05.678901234Z',
      lastDeployed: '2026-02-02T03:04:05Z',
      labels: { team: 'a' },
    } as const
    expect(decodeRelease(encodeRelease(release))).toEqual(release)
  })

  it('reads a record that was stored without compression', () => {
    const record = { name: 'web', namespace: 'tenant-a', version: 1, info: { status: 'deployed' } }
    expect(decodeRelease(withData(JSON.stringify(record)))).toMatchObject({
      status: 'deployed',
      values: {},
      manifest: '',
    })
  })

  it('calls a status that Helm does not have unknown', () => {
    const record = { name: 'web', namespace: 'tenant-a', version: 1, info: { status: 'constructor' } }
    expect(decodeRelease(withData(JSON.stringify(record))).status).toBe('unknown')
  })

  it('rejects a record that contains another release', () => {
    const record = encodeRelease(key)
    const moved = { ...record, metadata: { ...record.metadata, namespace: 'tenant-b' } }
    const renumbered = {
      ...record,
      metadata: { ...record.metadata, labels: { owner: 'helm', name: 'web', version: '2' } },
    }
    expect(() => decodeRelease(moved)).toThrow('contains another release than its labels and namespace say')
    expect(() => decodeRelease(renumbered)).toThrow(ReleaseRecordError)
  })

  it('stops unpacking a record that grows beyond the limit', () => {
    const bomb = withData(gzipSync(Buffer.alloc(64 * 1024 * 1024)))
    expect(() => decodeRelease(bomb)).toThrow(/is larger than \d+ bytes when unpacked/)
    expect(() => decodeRelease(withData('x'.repeat(400)), { maxBytes: 100 })).toThrow('is larger than 100 bytes')
  })

  it.each([
    ['lists in lists', `[${'[],'.repeat(2_700_000)}0]`],
    ['numbers', `[${'1,'.repeat(4_000_000)}0]`],
    ['fields', `{${Array.from({ length: 300_000 }, (_, i) => `"${i}":1`).join()}}`],
    ['levels', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
  ])('does not parse a record with too many %s, whatever it would unpack to', (_what, config) => {
    const record = `{"name":"web","namespace":"tenant-a","version":1,"info":{"status":"deployed"},"config":${config}}`
    const secret = withData(gzipSync(record))
    const before = process.threadCpuUsage()
    expect(() => decodeRelease(secret)).toThrow(expect.objectContaining({ exceedsLimits: true }))
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system, 'microseconds').toBeLessThan(250_000)
  })

  it.each([
    ['gzip that breaks off', gzipSync('{"name":"web"}').subarray(0, 20)],
    ['no JSON', 'password: hunter2'],
    ['a list', '[]'],
    ['no name', '{"namespace":"tenant-a","version":1}'],
    ['no revision', '{"name":"web","namespace":"tenant-a"}'],
    ['a revision of zero', '{"name":"web","namespace":"tenant-a","version":0}'],
    ['a revision that is a text', '{"name":"web","namespace":"tenant-a","version":"1"}'],
  ])('rejects %s and names the Secret without quoting it', (_what, bytes) => {
    const attempt = () => decodeRelease(withData(bytes))
    expect(attempt).toThrow(ReleaseRecordError)
    expect(attempt).toThrow('tenant-a/sh.helm.release.v1.web.v1')
    expect(attempt).not.toThrow('hunter2')
  })

  it.each([
    ['another type', { ...encodeRelease(key), type: 'Opaque' }],
    ['no labels', { ...encodeRelease(key), metadata: { ...key } }],
    ['no data', { ...encodeRelease(key), data: {} }],
  ])('rejects a Secret with %s', (_what, secret) => {
    expect(() => decodeRelease(secret)).toThrow(ReleaseRecordError)
  })
})

describe('decodeHistory', () => {
  it('sorts the revisions of one release by number and passes over everything else', () => {
    const secrets = [
      encodeRelease({ ...key, revision: 10 }),
      encodeRelease({ ...key, revision: 9 }),
      encodeRelease({ ...key, name: 'web2' }),
      encodeRelease({ ...key, namespace: 'tenant-b' }),
      { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, labels: { name: 'web' } }, type: 'Opaque' },
    ]
    expect(decodeHistory(secrets, { release: key }).map(({ revision }) => revision)).toEqual([9, 10])
  })
})

describe('readReleaseLabels', () => {
  it('reads name, revision and status without unpacking', () => {
    const { metadata } = encodeRelease({ ...key, revision: 3, status: 'pending-upgrade' })
    expect(readReleaseLabels(metadata)).toEqual({ name: 'web', revision: 3, status: 'pending-upgrade' })
  })

  it.each<Record<string, string>>([
    {},
    { owner: 'me', name: 'web', version: '1' },
    { owner: 'helm', name: 'web', version: '1e3' },
  ])('sees no record in %j', (labels) => {
    expect(readReleaseLabels({ labels })).toBeUndefined()
  })
})
