/** Field types that JSON Schema alone cannot express: Kubernetes lists, quantities and open objects. */
import { type TArray, type TSchema, type TUnsafe, Type } from 'typebox'
import type { ValidationRule } from './structural-schema.ts'

/** Common options of fields. */
export interface FieldOptions {
  /** Shown by `kubectl explain`. */
  readonly description?: string
  readonly default?: unknown
  readonly nullable?: boolean
}

/**
 * A port or percentage: `80` or `"25%"`.
 *
 * @example
 * Type.Object({ maxUnavailable: intOrString({ default: '25%' }) })
 */
export function intOrString(options: FieldOptions = {}): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, ...options })
}

/**
 * An amount of CPU or memory: `500m`, `1Gi`, or a plain number.
 *
 * @example
 * Type.Record(Type.String(), quantity())
 */
export function quantity(options: FieldOptions = {}): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
    'x-kubernetes-int-or-string': true,
    ...options,
  })
}

/**
 * An enumeration of strings.
 *
 * @example
 * oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], { default: 'ClusterIP' })
 */
export function oneOf<const T extends string>(values: readonly T[], options: FieldOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
}

/**
 * A list whose items are identified by `keys`, so that two managers can own different items of it.
 *
 * @example
 * listMap(Type.Object({ name: Type.String(), value: Type.String() }), ['name'])
 */
export function listMap<T extends TSchema>(
  items: T,
  keys: readonly string[],
  options: FieldOptions & { readonly minItems?: number; readonly maxItems?: number } = {},
): TArray<T> {
  return Type.Array(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...options })
}

/**
 * A list of distinct scalars.
 *
 * @example
 * listSet(Type.String())
 */
export function listSet<T extends TSchema>(
  items: T,
  options: FieldOptions & { readonly minItems?: number; readonly maxItems?: number } = {},
): TArray<T> {
  return Type.Array(items, { 'x-kubernetes-list-type': 'set', ...options })
}

/**
 * Any JSON value, unchanged.
 *
 * @example
 * Type.Object({ values: anyValue() })
 */
export function anyValue<T = unknown>(options: FieldOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ 'x-kubernetes-preserve-unknown-fields': true, ...options })
}

/**
 * An object without declared fields, kept unchanged; `T` is its type in code.
 *
 * @example
 * Type.Object({ affinity: Type.Optional(openObject<Affinity>()) })
 */
export function openObject<T = Record<string, unknown>>(options: FieldOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...options })
}

/**
 * Adds CEL rules to a field.
 *
 * @example
 * withRules(Type.Object({ min: Type.Integer(), max: Type.Integer() }), { rule: 'self.min <= self.max', message: 'min must not exceed max' })
 */
export function withRules<T extends TSchema>(schema: T, ...rules: readonly ValidationRule[]): T {
  // Spreading would only drop the non-enumerable markers of TypeBox; copying descriptors keeps them.
  const copy = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema)) as T
  Object.assign(copy, { 'x-kubernetes-validations': rules })
  return copy
}
