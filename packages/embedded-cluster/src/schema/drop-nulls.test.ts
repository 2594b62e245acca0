import { describe, expect, it } from 'vitest'
import { loadBuiltinSchemas } from './definitions.ts'
import { dropNulls } from './drop-nulls.ts'

const schemaOf = loadBuiltinSchemas()
const deployment = schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' })
const configMap = schemaOf({ group: '', version: 'v1', kind: 'ConfigMap' })

describe('dropNulls', () => {
  it('removes null fields and replaces null entries of maps and lists by zero values', () => {
    const object = { kind: 'ConfigMap', data: { a: null, b: 'x' }, binaryData: null, immutable: null }
    expect(dropNulls(configMap, object)).toEqual({ kind: 'ConfigMap', data: { a: '', b: 'x' } })
    const containers = [{ name: 'c', args: ['a', null], env: [null], ports: null }]
    expect(dropNulls(deployment, { spec: { template: { spec: { containers } } } })).toEqual({
      spec: { template: { spec: { containers: [{ name: 'c', args: ['a', ''], env: [{}] }] } } },
    })
  })

  it('does not change free-form content and returns the same object when there is no null', () => {
    const revision = schemaOf({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })
    const object = Object.freeze({ data: { spec: { a: null } }, revision: 1 })
    expect(dropNulls(revision, object)).toBe(object)
  })
})
