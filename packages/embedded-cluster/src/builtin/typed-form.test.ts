import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cloneJson, type JsonObject } from '../json.ts'
import { builtinMessageTypes } from './messages.ts'
import { DecodeError } from './scalar-forms.ts'
import { toTypedForm } from './typed-form.ts'

function typed(apiVersion: string, kind: string, object: JsonObject): JsonObject {
  const type = builtinMessageTypes().ofKind(apiVersion, kind)
  if (type === undefined) throw new Error(`no type for ${kind}`)
  const draft = cloneJson(object)
  toTypedForm(type, draft)
  return draft
}

const pod = (spec: JsonObject) => typed('v1', 'Pod', { spec }).spec
const container = (fields: JsonObject) => pod({ containers: [{ name: 'a', ...fields }] })

describe('the typed form', () => {
  it('drops nulls and empty values, and adds structs that are always encoded', () => {
    expect(container({ args: [], env: null, workingDir: '', stdin: false, resources: { limits: {} } })).toEqual({
      containers: [{ name: 'a', resources: {} }],
    })
    expect(typed('apps/v1', 'Deployment', { metadata: { labels: {}, annotations: null } })).toEqual({
      metadata: {},
      spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
      status: {},
    })
  })

  it('keeps the zero values of pointers', () => {
    const spec = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, containers: [] }
    expect(pod(spec)).toEqual({
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: null,
    })
    expect(typed('apps/v1', 'ReplicaSet', { spec: { replicas: 0 } }).spec).toMatchObject({ replicas: 0 })
  })

  it('fills null elements of lists and maps with zero values', () => {
    expect(typed('v1', 'ConfigMap', { data: { a: null } }).data).toEqual({ a: '' })
    expect(pod({ containers: [null] })).toEqual({ containers: [{ name: '', resources: {} }] })
  })

  it('rounds quantities of resource lists only', () => {
    expect(container({ resources: { requests: { cpu: '0.0001', memory: 1024 } } })).toMatchObject({
      containers: [{ resources: { requests: { cpu: '1m', memory: '1024' } } }],
    })
    expect(pod({ containers: [], volumes: [{ name: 'a', emptyDir: { sizeLimit: '0.0001' } }] })).toMatchObject({
      volumes: [{ emptyDir: { sizeLimit: '100u' } }],
    })
  })

  it('does not change unknown fields, including the kind', () => {
    expect(typed('v1', 'ConfigMap', { kind: 'ConfigMap', other: null })).toMatchObject({
      kind: 'ConfigMap',
      other: null,
    })
  })

  it('assumes that frozen parts, which come from the store, have the form already', () => {
    const type = builtinMessageTypes().ofKind('v1', 'Namespace')
    if (type === undefined) throw new Error('no type for Namespace')
    const stored = Object.freeze({ phase: 'Active', conditions: [] })
    const object = { metadata: {}, spec: {}, status: stored }
    toTypedForm(type, object)
    expect(object.status).toEqual({ phase: 'Active', conditions: [] })
    const sent = { metadata: {}, spec: {}, status: { ...stored } }
    toTypedForm(type, sent)
    expect(sent.status).toEqual({ phase: 'Active' })
  })
})

describe('values of the wrong type', () => {
  // Messages of a real API server.
  it.each<[string, JsonObject, string]>([
    [
      'a string for a number',
      { spec: { replicas: 'a' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'a fraction',
      { spec: { replicas: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'a number that is too large',
      { spec: { replicas: 99_999_999_999 } },
      'json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'a struct for a list',
      { spec: { template: { spec: { containers: {} } } } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    ],
    [
      'a number for a string',
      { spec: { template: { spec: { containers: [{ name: 1 }] } } } },
      'json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string',
    ],
    [
      'a number for a named string type',
      { spec: { template: { spec: { containers: [{ ports: [{ protocol: 1 }] }] } } } },
      'json: cannot unmarshal number into Go struct field ContainerPort.spec.template.spec.containers.ports.protocol of type v1.Protocol',
    ],
    [
      'a list for a struct',
      { spec: { template: { spec: { containers: [{ resources: [] }] } } } },
      'json: cannot unmarshal array into Go struct field Container.spec.template.spec.containers.resources of type v1.ResourceRequirements',
    ],
    [
      'a string for a resource list',
      { spec: { template: { spec: { containers: [{ resources: { requests: 'x' } }] } } } },
      'json: cannot unmarshal string into Go struct field ResourceRequirements.spec.template.spec.containers.resources.requests of type v1.ResourceList',
    ],
    [
      'a boolean for an int-or-string',
      { spec: { strategy: { rollingUpdate: { maxSurge: true } } } },
      'json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
    ],
    [
      'a number in a map of strings',
      { metadata: { labels: { a: 1 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      'a field of an embedded struct',
      { spec: { template: { spec: { volumes: [{ emptyDir: '' }] } } } },
      'json: cannot unmarshal string into Go struct field Volume.spec.template.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    ],
    [
      'a number for a time',
      { metadata: { creationTimestamp: 5 } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
    ],
    [
      'an invalid quantity',
      { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: true } } }] } } } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])('%s', (_, object, message) => {
    expect(() => typed('apps/v1', 'Deployment', object)).toThrow(new DecodeError(message))
  })
})

describe('any object', () => {
  it('has an idempotent typed form, or is rejected', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const object = fc.record({
      metadata: fc.oneof(value, fc.record({ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) })),
      spec: fc.oneof(value, fc.record({ replicas: value, template: value, selector: value })),
    })
    fc.assert(
      fc.property(object, (drawn) => {
        try {
          // fast-check generates only JSON.
          const once = typed('apps/v1', 'Deployment', drawn as JsonObject)
          expect(typed('apps/v1', 'Deployment', once)).toEqual(once)
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError)
        }
      }),
    )
  })
})
