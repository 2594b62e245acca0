import { describe, expect, it } from 'vitest'
import { chooseVersion } from './choose-version.ts'

describe('chooseVersion', () => {
  const versions = ['1.9.0', '1.10.0', '2.0.0-rc.1', 'latest', '1.2.0+build.1', 'v0.9.0']

  it.each([
    [undefined, '1.10.0'],
    ['', '1.10.0'],
    ['^1.0.0', '1.10.0'],
    ['~1.9', '1.9.0'],
    ['1.9.0', '1.9.0'],
    ['2.0.0-rc.1', '2.0.0-rc.1'],
    ['>=2.0.0-rc.0', '2.0.0-rc.1'],
    ['1.2.0+build.1', '1.2.0+build.1'],
    ['0.9.0', 'v0.9.0'],
    ['^3', undefined],
    ['not a range', undefined],
  ])('resolves %j to %j', (wanted, chosen) => {
    expect(chooseVersion(versions, wanted)).toBe(chosen)
  })

  it('does not take a pre-release for the newest release', () => {
    expect(chooseVersion(['1.0.0-alpha'], undefined)).toBeUndefined()
  })
})
