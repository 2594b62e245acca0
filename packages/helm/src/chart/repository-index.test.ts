import { describe, expect, it } from 'vitest'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import { findInIndex } from './repository-index.ts'

const digest = 'a'.repeat(64)

/** As `helm repo index` writes it. */
const written = `apiVersion: v1
entries:
  api:
  - apiVersion: v2
    name: api
    urls:
    - api-9.0.0.tgz
    version: 9.0.0
  web:
  - apiVersion: v2
    dependencies:
    - name: sub
      version: 7.0.0
    description: |
      version: 8.0.0
    digest: ${digest}
    urls:
    - web-1.0.0.tgz
    version: 1.0.0
  # A comment, and a version in quotes.

  - name: web
    urls: ['https://other.example.com/web-1.2.0.tgz']
    version: "1.2.0"
  - name: web
    version: 1.3.0
generated: "2026-01-01T00:00:00Z"
`

/** The same, handwritten: lists further in, flow mappings. */
const handwritten = `entries:
  web:
  - {version: 1.0.0, urls: [web-1.0.0.tgz], digest: ${digest}}
  - {version: 1.2.0, urls: ['https://other.example.com/web-1.2.0.tgz']}
  - {version: 1.3.0}
  broken: nonsense
`

const indented = `entries:
    web:
      - version: 1.0.0
        urls: [web-1.0.0.tgz]
        digest: ${digest}
      - urls: ['https://other.example.com/web-1.2.0.tgz']
        version: '1.2.0'
      - version: 1.3.0
`

const json = JSON.stringify({
  entries: {
    web: [
      { version: '1.0.0', urls: ['web-1.0.0.tgz'], digest },
      { version: '1.2.0', urls: ['https://other.example.com/web-1.2.0.tgz'] },
      { version: '1.3.0' },
    ],
  },
})

describe.each([
  ['as Helm writes it', written],
  ['with Windows line ends', written.replaceAll('\n', '\r\n')],
  ['with other indentation', indented],
  ['written by hand', handwritten],
  ['in JSON', json],
])('findInIndex in an index %s', (_what, index) => {
  it('finds address and digest of the version that is requested', () => {
    const expected = { version: '1.0.0', url: 'web-1.0.0.tgz', digest: `sha256:${digest}` }
    expect(findInIndex(index, 'web', '1.0.0', 'it')).toEqual(expected)
    expect(findInIndex(index, 'web', '~1.2', 'it')).toEqual({
      version: '1.2.0',
      url: 'https://other.example.com/web-1.2.0.tgz',
    })
  })

  it.each([
    ['nope', undefined],
    ['broken', undefined],
    ['web', '^7'],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('does not find %s %s', (chart, version) => {
    expect(() => findInIndex(index, chart, version, 'it')).toThrow(ChartNotFoundError)
  })

  it('says which version has no address', () => {
    expect(() => findInIndex(index, 'web', undefined, 'it')).toThrow('no address for web 1.3.0')
  })
})

describe('findInIndex', () => {
  it.each(['', '[]', 'entries: [', 'a: 1', '{"entries":', 'entries:\n  web:\n  - version: 1.0.0\n    urls: [\n'])(
    'rejects %j as an index',
    (text) => {
      expect(() => findInIndex(text, 'web', undefined, 'it')).toThrow(ChartInvalidError)
    },
  )

  it('does not parse for seconds what was not written by Helm', () => {
    const large = `entries: {web: [${'{version: 1.0.0}, '.repeat(20_000)}]}`
    expect(() => findInIndex(large, 'web', undefined, 'it')).toThrow('helm repo index')
  })
})

it('the parser of an index takes no longer for a line of blanks than for any other', () => {
  // Restarting at each blank would take minutes.
  const index = `entries:\n${' '.repeat(500_000)}!\n`
  expect(() => findInIndex(index, 'web', undefined, 'the chart')).toThrow(ChartInvalidError)
})
