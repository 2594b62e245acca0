/** The types of the static check of rules. */
import type { Schema } from '../schema/schema.ts'
import { escapeFieldName } from './identifiers.ts'

/** A type. `dyn` means that the type is not known before evaluation; every use of it is accepted. */
export type StaticType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'list'; readonly items: StaticType }
  | { readonly kind: 'map'; readonly keys: StaticType; readonly values: StaticType }
  | { readonly kind: 'object'; readonly fields: (name: string) => Schema | undefined }
  | { readonly kind: 'optional'; readonly value: StaticType }

/** Types without parts. */
export type ScalarKind =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'quantity'
  | 'url'
  | 'ip'
  | 'cidr'
  | 'semver'
  | 'format'

/** The unknown type. */
export const dyn: StaticType = { kind: 'dyn' }

/** A scalar type by its kind. */
export function scalar(kind: ScalarKind): StaticType {
  return { kind }
}

/** The type of a value of this schema in expressions. */
export function typeOfSchema(schema: Schema | undefined): StaticType {
  if (schema === undefined || schema['x-kubernetes-int-or-string']) return dyn
  switch (schema.type) {
    case 'boolean':
      return scalar('bool')
    case 'integer':
      return scalar('int')
    case 'number':
      return scalar('double')
    case 'string':
      return scalar(stringKind(schema.format))
    case 'array':
      return { kind: 'list', items: typeOfSchema(schema.items) }
    case 'object':
      return objectType(schema)
    default:
      return dyn
  }
}

function stringKind(format: string | undefined): ScalarKind {
  if (format === 'byte') return 'bytes'
  if (format === 'date' || format === 'date-time') return 'timestamp'
  return format === 'duration' ? 'duration' : 'string'
}

function objectType(schema: Schema): StaticType {
  if (typeof schema.additionalProperties === 'object') {
    return { kind: 'map', keys: scalar('string'), values: typeOfSchema(schema.additionalProperties) }
  }
  const { properties } = schema
  // Without declared fields there is nothing to check; embedded resources have more fields than they declare.
  if (properties === undefined || schema['x-kubernetes-embedded-resource']) return dyn
  return {
    kind: 'object',
    fields: (name) => {
      for (const [field, type] of Object.entries(properties)) {
        if (escapeFieldName(field) === name) return type
      }
      return undefined
    },
  }
}

/** A type in the format of messages. */
export function printType(type: StaticType): string {
  switch (type.kind) {
    case 'list':
      return `list(${printType(type.items)})`
    case 'map':
      return `map(${printType(type.keys)}, ${printType(type.values)})`
    case 'optional':
      return `optional_type(${printType(type.value)})`
    case 'timestamp':
    case 'duration':
      return `google.protobuf.${type.kind === 'timestamp' ? 'Timestamp' : 'Duration'}`
    default:
      return type.kind
  }
}
