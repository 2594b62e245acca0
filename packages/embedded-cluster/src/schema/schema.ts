/** A structural OpenAPI v3 schema with Kubernetes' extensions; references are already resolved (lazily). */
import type { JsonValue } from '../json.ts'

export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: JsonValue
  readonly enum?: readonly JsonValue[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly not?: Schema
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic'
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string
    readonly message?: string
    readonly messageExpression?: string
    readonly reason?: string
    readonly fieldPath?: string
    readonly optionalOldSelf?: boolean
  }[]
  /**
   * A struct that is part of every object of its built-in kind, even if empty, such as `spec`. Only set on schemas of
   * built-in kinds.
   */
  readonly 'x-inline'?: boolean
  /** The name of a built-in type in messages, such as `v1.PodTemplateSpec`. */
  readonly 'x-type-name'?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}
