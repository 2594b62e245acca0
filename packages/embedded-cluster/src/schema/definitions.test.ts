import { describe, expect, it } from 'vitest'
import { loadBuiltinSchemas } from './definitions.ts'
import type { Schema } from './schema.ts'

const schemaOf = loadBuiltinSchemas()

function at(schema: Schema | undefined, path: string): Schema | undefined {
  return path.split('.').reduce<Schema | undefined>((found, name) => {
    return name === '[]' ? found?.items : found?.properties?.[name]
  }, schema)
}

describe('loadBuiltinSchemas', () => {
  const deployment = schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' })

  it('finds a kind and resolves references', () => {
    const ports = at(deployment, 'spec.template.spec.containers.[].ports')
    expect(ports?.['x-kubernetes-list-map-keys']).toEqual(['containerPort', 'protocol'])
    expect(at(ports, '[].protocol')?.default).toBe('TCP')
  })

  it('returns the same schema every time, so that it can be used as a cache key', () => {
    const again = schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' })
    expect(again).toBe(deployment)
    expect(at(again, 'spec.template.spec')).toBe(at(deployment, 'spec.template.spec'))
    expect(at(again, 'spec.template.spec.containers.[].env.[]')).toBe(
      at(deployment, 'spec.template.spec.containers.[].env.[]'),
    )
  })

  it('returns nothing for unknown kinds', () => {
    expect(schemaOf({ group: 'example.com', version: 'v1', kind: 'Thing' })).toBeUndefined()
  })

  it('supports recursive definitions', () => {
    const crd = schemaOf({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' })
    const props = at(crd, 'spec.versions.[].schema.openAPIV3Schema')
    expect(props?.properties?.not).toBeDefined()
    expect(props?.properties?.not?.properties?.not).toBe(props?.properties?.not?.properties?.not?.properties?.not)
  })

  it('maps types that Swagger cannot express', () => {
    const surge = at(deployment, 'spec.strategy.rollingUpdate.maxSurge')
    expect(surge?.['x-kubernetes-int-or-string']).toBe(true)
    const limits = at(deployment, 'spec.template.spec.containers.[].resources.limits')
    expect(limits?.additionalProperties).toMatchObject({ 'x-kubernetes-int-or-string': true, format: 'quantity' })
    const revision = schemaOf({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })
    expect(revision?.properties?.data?.['x-kubernetes-preserve-unknown-fields']).toBe(true)
  })

  it('keeps keywords next to a reference', () => {
    expect(at(deployment, 'spec.strategy')?.['x-kubernetes-patch-strategy']).toBe('retainKeys')
    expect(at(deployment, 'spec.strategy')?.type).toBe('object')
  })

  it('marks the structs that are part of every object', () => {
    expect(at(deployment, 'spec.template')?.['x-inline']).toBe(true)
    expect(at(deployment, 'spec.strategy.rollingUpdate')?.['x-inline']).toBeUndefined()
  })
})
