/** Fuzzes the index of a chart repository and the choice of a version. */
import { attempt, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { indexItems } from '../src/chart/index-items.ts'
import { findInIndex } from '../src/chart/repository-index.ts'
import { HelmError } from '../src/errors.ts'

const version = fc.constantFrom('1.0.0', '1.2.3-rc.1+x', 'v2', '^1', '')
const item = fc
  .tuple(version, fc.constantFrom('web-1.tgz', 'https://x/y.tgz', ''))
  .map(([number, url]) => `  - version: ${number}\n    urls:\n    - ${url}\n    digest: ${'a'.repeat(64)}`)

fuzz('chart-index', {
  inputs: fc
    .tuple(version, fc.array(item, { maxLength: 4 }))
    .map(([wanted, items]) => `${wanted}\napiVersion: v1\nentries:\n  web:\n${items.join('\n')}\n`),
  seeds: [
    '^1\n{"entries":{"web":[{"version":"1.0.0","urls":["a.tgz"]}]}}',
    '\nentries:\n    web:\n    - version: "1.0.0"\n      urls: [a]\n    other: []\n',
  ],
  dictionary: [
    'entries:\n',
    '  web:\n',
    '- version: 1.0.0\n',
    'urls:\n',
    'digest: ',
    '||',
    ' - ',
    '^',
    '~',
    '>=',
    '*',
    'x',
    '&a ',
    '*a',
    '{',
    '#',
  ],
  run(input) {
    const [wanted = '', ...rest] = textOf(input).split('\n')
    const index = rest.join('\n')
    attempt(() => findInIndex(index, 'web', wanted, 'charts'), HelmError)
    indexItems(index, 'web')
  },
})
