import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ingredientsOf, revisionMarks } from './revision-marks.ts'

const LABEL_VALUE = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/
const KEY = { namespace: 'default', name: 'metrics' }
const revision = { revision: 1, status: 'deployed', description: 'Collector default/metrics' } as const

const digest = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `sha256:${Buffer.from(bytes).toString('hex')}`)

it('digests of a revision are written as labels that every API server accepts, and are read back whole', () => {
  fc.assert(
    fc.property(digest, digest, (chartDigest, valuesDigest) => {
      const { labels } = revisionMarks(KEY, { chartDigest, valuesDigest })
      for (const value of Object.values(labels)) expect(value).toMatch(LABEL_VALUE)
      expect(ingredientsOf({ ...revision, labels })).toEqual({ chartDigest, valuesDigest })
    }),
  )
})

it('labels of others are not digests of a revision', () => {
  expect(ingredientsOf({ ...revision, labels: {} })).toBeUndefined()
  const labels = { 'example.com/chart-digest': 'abc', 'example.com/values-digest': 'sha256-abc' }
  expect(ingredientsOf({ ...revision, labels })).toBeUndefined()
})
