import { describe, expect, it } from 'vitest'
import { CrdVersionError, compareCrdVersions } from './crd-version.ts'

const NAME = 'dynakubes.dynatrace.com'

describe('the version of a CRD', () => {
  it('is fine when it is that of the operator', () => {
    expect(compareCrdVersions(NAME, '1.8.1', '1.8.1')).toBeUndefined()
  })

  it('is reported with a remedy when it differs', () => {
    expect(compareCrdVersions(NAME, '1.8.0', '1.8.1')).toBe(
      `CustomResourceDefinition ${NAME} is of 1.8.0, this operator of 1.8.1; install the CRDs of 1.8.1`,
    )
  })

  it.each([undefined, ''])('cannot be compared when its label is %j', (label) => {
    expect(() => compareCrdVersions(NAME, label, '1.8.1')).toThrow(CrdVersionError)
    expect(() => compareCrdVersions(NAME, label, '1.8.1')).toThrow(/app\.kubernetes\.io\/version/)
  })

  it.each([undefined, ''])('cannot be compared with the operator’s own when that is %j', (version) => {
    expect(() => compareCrdVersions(NAME, '1.8.0', version)).toThrow(/APP_VERSION/)
  })
})
