import { describe, expect, it } from 'vitest'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import { findInIndex } from './repository-index.ts'

const digest = 'a'.repeat(64)
const index = `apiVersion: v1
entries:
  web:
  - {version: 1.0.0, urls: [web-1.0.0.tgz], digest: ${digest}}
  - {version: 1.2.0, urls: ['https://other.example.com/web-1.2.0.tgz']}
  - {version: 1.3.0}
  broken: nonsense
`

describe('findInIndex', () => {
  it('finds address and digest of the version that is wanted', () => {
    expect(findInIndex(index, 'web', '1.0.0', 'it')).toEqual({
      version: '1.0.0',
      url: 'web-1.0.0.tgz',
      digest: `sha256:${digest}`,
    })
    expect(findInIndex(index, 'web', '~1.2', 'it')).toEqual({
      version: '1.2.0',
      url: 'https://other.example.com/web-1.2.0.tgz',
    })
  })

  it('reads an index in JSON', () => {
    const json = JSON.stringify({ entries: { web: [{ version: '1.0.0', urls: ['a'] }] } })
    expect(findInIndex(json, 'web', undefined, 'it')).toEqual({ version: '1.0.0', url: 'a' })
  })

  it.each([
    ['api', undefined],
    ['broken', undefined],
    ['web', '^9'],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('does not find %s %s', (chart, version) => {
    expect(() => findInIndex(index, chart, version, 'it')).toThrow(ChartNotFoundError)
  })

  it.each(['', '[]', 'entries: [', 'a: 1', '{"entries":'])('refuses %j as an index', (text) => {
    expect(() => findInIndex(text, 'web', undefined, 'it')).toThrow(ChartInvalidError)
  })

  it('says which version has no address', () => {
    expect(() => findInIndex(index, 'web', undefined, 'it')).toThrow('no address for web 1.3.0')
  })
})
