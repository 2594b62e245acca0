/** The generated data is consistent: everything the server lists can be validated and decoded. */
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { DiscoveryTable } from '../../src/registry/builtin-resources.ts'
import type { GoTypes } from '../go-types.ts'
import type { Definition, Definitions } from '../openapi-definitions.ts'
import type { ProtobufDescriptor } from '../protobuf-descriptor.ts'

const read = async (name: string) => JSON.parse(await readFile(new URL(`../../data/${name}`, import.meta.url), 'utf8'))
const discovery: DiscoveryTable = await read('discovery.json')
const definitions: Definitions = await read('openapi-definitions.json')
const protobuf: ProtobufDescriptor = await read('protobuf.json')
const goTypes: GoTypes = await read('go-types.json')

const kinds = discovery.resources.map(({ group, version, kind }) => ({ group, version, kind }))

function* schemasOf(schema: Definition): Generator<Definition> {
  yield schema
  for (const property of Object.values(schema.properties ?? {})) yield* schemasOf(property)
  if (schema.items) yield* schemasOf(schema.items)
  if (typeof schema.additionalProperties === 'object') yield* schemasOf(schema.additionalProperties)
}
const schemas = Object.values(definitions).flatMap((definition) => [...schemasOf(definition)])

describe('the schema data', () => {
  it('has a definition for every resource', () => {
    const known = new Set(
      Object.values(definitions).flatMap((definition) =>
        (definition['x-kubernetes-group-version-kind'] ?? []).map((gvk) => `${gvk.group}/${gvk.version}/${gvk.kind}`),
      ),
    )
    expect(kinds.filter(({ group, version, kind }) => !known.has(`${group}/${version}/${kind}`))).toEqual([])
  })

  it('has a protobuf message for every resource', () => {
    const messageOf = ({ group, version, kind }: (typeof kinds)[number]) =>
      protobuf.messages[`${protobuf.packages[group === '' ? version : `${group}/${version}`]}.${kind}`]
    expect(kinds.filter((kind) => messageOf(kind) === undefined)).toEqual([])
  })

  it('refers only to definitions that exist', () => {
    const missing = schemas
      .map(({ $ref }) => $ref?.replace('#/definitions/', ''))
      .filter((name) => name !== undefined && definitions[name] === undefined)
    expect(missing).toEqual([])
  })

  it('has no descriptions', () => {
    expect(schemas.filter((schema) => 'description' in schema)).toEqual([])
  })

  it('has the default that completes a key of a list', () => {
    expect(definitions['io.k8s.api.core.v1.ContainerPort']?.properties?.protocol?.default).toBe('TCP')
  })

  it('distinguishes a named slice from an object whose only field is a list', () => {
    expect(protobuf.messages['k8s.io.api.authentication.v1.ExtraValue']).toEqual({ 1: ['', 'string', 'repeated'] })
    expect(protobuf.messages['k8s.io.api.core.v1.DownwardAPIProjection']?.['1']?.[0]).toBe('items')
  })

  it('marks embedded structs and fields that protobuf cannot name', () => {
    const volume = Object.values(protobuf.messages['k8s.io.api.core.v1.Volume'] ?? {})
    expect(volume).toContainEqual(['', 'k8s.io.api.core.v1.VolumeSource'])
    const schema = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'
    const names = Object.values(protobuf.messages[schema] ?? {}).map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(['$ref', 'x-kubernetes-preserve-unknown-fields']))
  })

  it('has pointers, fields that are always encoded and named types', () => {
    expect(goTypes['k8s.io.api.apps.v1.DeploymentSpec']).toMatchObject({ replicas: '*', selector: '*!', template: '!' })
    expect(goTypes['k8s.io.api.core.v1.ContainerPort']?.protocol).toBe('v1.Protocol')
    expect(goTypes['k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta']?.creationTimestamp).toBe('0')
  })

  it('describes only fields of the messages', () => {
    const unknown = Object.entries(goTypes).flatMap(([message, fields]) => {
      const names = new Set(Object.values(protobuf.messages[message] ?? {}).map(([name]) => name))
      return Object.keys(fields).filter((name) => !names.has(name))
    })
    expect(unknown).toEqual([])
  })
})
