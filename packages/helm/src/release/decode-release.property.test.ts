import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReleaseRecordError } from '../errors.ts'
import { encodeRelease } from '../testing/encode-release.ts'
import { decodeRelease } from './decode-release.ts'
import type { Release, ReleaseStatus } from './release.ts'
import { valuesDigest } from './values-digest.ts'

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/)
const text = fc.string({ minLength: 1, maxLength: 50, unit: 'binary' })
const status = fc.constantFrom<ReleaseStatus>('deployed', 'superseded', 'failed', 'pending-upgrade', 'uninstalling')
const values = fc
  .dictionary(name, fc.jsonValue({ maxDepth: 3 }))
  // Numbers pass through JSON, which has no negative zero.
  .map((object) => JSON.parse(JSON.stringify(object)) as Record<string, unknown>)

const release: fc.Arbitrary<Release> = fc.record({
  namespace: name,
  name,
  revision: fc.integer({ min: 1, max: 999_999_999 }),
  status,
  chart: fc.record({ name: text, version: text }),
  values,
  manifest: fc.string({ unit: 'binary' }),
  hooks: fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
  description: text,
  lastDeployed: fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString()),
  labels: fc.dictionary(
    name.filter((key) => !['name', 'owner', 'status', 'version'].includes(key)),
    name,
  ),
})

describe('decodeRelease', () => {
  it('returns what was recorded', () => {
    fc.assert(
      fc.property(release, (recorded) => {
        expect(decodeRelease(encodeRelease(recorded))).toEqual(recorded)
      }),
    )
  })

  it('decodes arbitrary bytes to a release or fails with a ReleaseRecordError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isPrefixed) => {
        const data = isPrefixed ? Buffer.from([0x1f, 0x8b, 0x08, ...bytes]) : Buffer.from(bytes)
        const secret = encodeRelease({ namespace: 'a', name: 'b' })
        const hostile = { ...secret, data: { release: Buffer.from(data.toString('base64')).toString('base64') } }
        try {
          decodeRelease(hostile)
        } catch (error) {
          expect(error).toBeInstanceOf(ReleaseRecordError)
        }
      }),
    )
  })
})

describe('valuesDigest', () => {
  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(values, (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse())
        expect(valuesDigest(reversed)).toBe(valuesDigest(object))
      }),
    )
  })

  it('differs for values that differ', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const isSame = valuesDigest(a) === valuesDigest(b)
        try {
          expect(a).toEqual(b)
          expect(isSame).toBe(true)
        } catch {
          // Not equal, so the digests must not be either.
          expect(isSame).toBe(false)
        }
      }),
    )
  })

  it('rejects values that are nested too deeply', () => {
    let nested: Record<string, unknown> = {}
    for (let depth = 0; depth < 1_000; depth++) nested = { nested }
    expect(() => valuesDigest(nested)).toThrow('nested deeper than 100 levels')
  })
})
