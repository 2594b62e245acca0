import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadBuiltinSchemas } from './definitions.ts'
import type { Schema } from './schema.ts'
import { checkStructural } from './structural.ts'

interface Case {
  name: string
  schema: Schema
  errors?: [string, string, string][]
}

// Schemas of definitions and the errors of a real API server.
const cases: Case[] = JSON.parse(readFileSync(new URL('golden/structural.json', import.meta.url), 'utf8'))

describe('checkStructural, as a real API server', () => {
  for (const { name, schema, errors } of cases) {
    it(`${errors === undefined ? 'accepts' : 'rejects'} ${name}: ${JSON.stringify(schema).slice(0, 90)}`, () => {
      const found = checkStructural(schema, '').map(({ reason, field, message }) => [reason, field, message])
      expect(found).toEqual(errors ?? [])
    })
  }
})

describe('checkStructural', () => {
  it('reports fields below the given path', () => {
    const [error] = checkStructural({ type: 'string' }, 'spec.versions[1].schema.openAPIV3Schema')
    expect(error?.field).toBe('spec.versions[1].schema.openAPIV3Schema.type')
  })

  it('reports every occurrence of an invalid pattern', () => {
    const broken = { type: 'string', pattern: '(' } as const
    const found = checkStructural({ type: 'object', properties: { a: broken, b: broken } }, '')
    expect(found.map(({ field }) => field)).toEqual(['.properties[a].pattern', '.properties[b].pattern'])
  })

  it('does not follow a cyclic schema forever', () => {
    const pod = loadBuiltinSchemas()({ group: '', version: 'v1', kind: 'Pod' })
    expect(pod === undefined ? [] : checkStructural(pod)).not.toHaveLength(0)
  })

  it('tolerates keywords of the wrong type', () => {
    const odd = { type: 5, properties: 'x', items: 7, allOf: 'y', 'x-kubernetes-list-map-keys': 3 } as unknown as Schema
    expect(checkStructural(odd, '').map(({ field }) => field)).toContain('.type')
  })
})
