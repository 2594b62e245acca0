import { describe, expect, it } from 'vitest'
import { compileJsonPath, JsonPathError } from './json-path.ts'

const object = {
  metadata: { name: 'web', annotations: { 'example.com/a': 'x' } },
  spec: {
    replicas: 3,
    ports: [
      { port: 80, name: 'http' },
      { port: 443, name: 'https' },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}

describe('compileJsonPath', () => {
  const cases: [string, unknown[]][] = [
    ['.spec.replicas', [3]],
    ['$.spec.replicas', [3]],
    ['{.spec.replicas}', [3]],
    ['.spec.missing.deeper', []],
    ['.metadata.annotations.example\\.com/a', ['x']],
    [".metadata.annotations['example.com/a']", ['x']],
    ['.spec.ports[0].name', ['http']],
    ['.spec.ports[-1].name', ['https']],
    ['.spec.ports[9].name', []],
    ['.spec.ports[*].port', [80, 443]],
    ['.spec.ports[0:1].port', [80]],
    ['.spec.ports[0,1].port', [80, 443]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type == 'Other')].status", ['False']],
    ['.spec.ports[?(@.port>100)].name', ['https']],
    ['.spec.ports[?(@.port!=80)].name', ['https']],
    ['.spec.ports[?(@.missing)].name', []],
    ['..port', [80, 443]],
    ['.spec.*', [3, object.spec.ports]],
    ['.', [object]],
    ['.spec.constructor', []],
  ]
  for (const [expression, expected] of cases) {
    it(`evaluates ${expression}`, () => {
      expect(compileJsonPath(expression)(object)).toEqual(expected)
    })
  }

  for (const expression of [
    '.spec[',
    '.spec[?(@.a==)]',
    '.spec..',
    '.a b',
    ".a['b",
    '.a[?(b)]',
    '.a[x]',
    '.a[?(@.b==007)]',
  ]) {
    it(`refuses ${expression}`, () => {
      expect(() => compileJsonPath(expression)).toThrow(JsonPathError)
    })
  }

  it('refuses filters that are nested deeper than the stack goes', () => {
    expect(() => compileJsonPath('[?(@'.repeat(10_000))).toThrow('filters are nested too deep')
  })
})
