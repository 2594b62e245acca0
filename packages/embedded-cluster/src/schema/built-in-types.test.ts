import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { checkBuiltInTypes, dropNulls } from './built-in-types.ts'
import { loadBuiltinSchemas } from './definitions.ts'

const schemaOf = loadBuiltinSchemas()
const deployment = schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' })
const configMap = schemaOf({ group: '', version: 'v1', kind: 'ConfigMap' })

function problemOf(spec: JsonObject): string | undefined {
  try {
    checkBuiltInTypes(deployment, { apiVersion: 'apps/v1', kind: 'Deployment', spec })
    return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    expect(error.code).toBe(400)
    return error.message.replace('Deployment in version "v1" cannot be handled as a Deployment: ', '')
  }
}

describe('checkBuiltInTypes', () => {
  const podSpec = (spec: JsonObject): JsonObject => ({ template: { spec } })
  const cases: [JsonObject, string][] = [
    [{ replicas: 'x' }, 'string into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [{ replicas: 1.5 }, 'number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [{ replicas: 30000000000 }, 'number 30000000000 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [{ replicas: true }, 'bool into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [{ paused: 0 }, 'number into Go struct field DeploymentSpec.spec.paused of type bool'],
    [{ template: 'x' }, 'string into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec'],
    [
      podSpec({ containers: {} }),
      'object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    ],
    [
      podSpec({ containers: ['x'] }),
      'string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container',
    ],
    [
      podSpec({ containers: [{ name: 1 }] }),
      'number into Go struct field Container.spec.template.spec.containers.name of type string',
    ],
    [
      podSpec({ nodeSelector: { a: 1 } }),
      'number into Go struct field PodSpec.spec.template.spec.nodeSelector of type string',
    ],
    [
      podSpec({ nodeSelector: 'x' }),
      'string into Go struct field PodSpec.spec.template.spec.nodeSelector of type map[string]string',
    ],
    [
      { strategy: { rollingUpdate: { maxSurge: true } } },
      'bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
    ],
  ]
  for (const [spec, expected] of cases) {
    it(`refuses ${JSON.stringify(spec)} in the words of the API server`, () => {
      expect(problemOf(spec)).toBe(`json: cannot unmarshal ${expected}`)
    })
  }

  it('accepts numbers and text where either is allowed', () => {
    expect(problemOf({ strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } } })).toBeUndefined()
    const limits = { cpu: '100m', memory: '1.5Gi', 'example.com/gpu': 2 }
    expect(problemOf(podSpec({ containers: [{ name: 'a', resources: { limits } }] }))).toBeUndefined()
  })

  it('refuses a quantity nobody can read', () => {
    const limits = { cpu: 'abc' }
    expect(problemOf(podSpec({ containers: [{ name: 'a', resources: { limits } }] }))).toMatch(/^quantities must match/)
  })

  it('refuses a time or base64 that is none', () => {
    expect(problemOf({ template: { metadata: { creationTimestamp: 'x' } } })).toMatch(/^parsing time "x"/)
    const secret = schemaOf({ group: '', version: 'v1', kind: 'Secret' })
    const object = { apiVersion: 'v1', kind: 'Secret', data: { a: '!!' } }
    expect(() => checkBuiltInTypes(secret, object)).toThrow(/Secret in version "v1".*illegal base64/)
  })

  it('ignores nulls and unknown fields', () => {
    expect(problemOf({ replicas: null, unknown: { a: 1 } })).toBeUndefined()
  })
})

describe('dropNulls', () => {
  it('removes null fields and makes null entries of maps and lists zero values', () => {
    const object = { kind: 'ConfigMap', data: { a: null, b: 'x' }, binaryData: null, immutable: null }
    expect(dropNulls(configMap, object)).toEqual({ kind: 'ConfigMap', data: { a: '', b: 'x' } })
    const containers = [{ name: 'c', args: ['a', null], env: [null], ports: null }]
    expect(dropNulls(deployment, { spec: { template: { spec: { containers } } } })).toEqual({
      spec: { template: { spec: { containers: [{ name: 'c', args: ['a', ''], env: [{}] }] } } },
    })
  })

  it('leaves free-form content alone and returns the object itself when there is no null', () => {
    const revision = schemaOf({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })
    const object = Object.freeze({ data: { spec: { a: null } }, revision: 1 })
    expect(dropNulls(revision, object)).toBe(object)
  })
})
