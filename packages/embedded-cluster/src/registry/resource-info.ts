/** The description of one kind in one version. */
import type { JsonObject } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import type { FieldError } from '../status-error.ts'

/**
 * Evaluates the rules of a schema on an object that passed schema validation, or on one with `schemaErrors` as far as
 * possible. `old` is absent on create.
 */
export type RuleValidator = (
  object: JsonObject,
  old: JsonObject | undefined,
  schemaErrors: readonly FieldError[],
) => readonly FieldError[]

/** A subresource of an object, such as its status. */
export interface SubresourceInfo {
  /** Such as `status` or `scale`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly string[]
}

/** A column of `kubectl get`, as declared in a CustomResourceDefinition. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  /** Columns above 0 are only shown by `-o wide`. @default 0 */
  readonly priority?: number
}

/** The fields that the `scale` subresource of a custom resource reads and writes. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** A served resource: built in, or defined by a CustomResourceDefinition. */
export interface ResourceInfo {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
  readonly subresources: readonly SubresourceInfo[]
  /** The storage version; equal to `version` unless the kind has several. */
  readonly storageVersion: string
  /** Schema of the whole object, `undefined` only if there is none. */
  readonly schema: Schema | undefined
  /** Whether a CustomResourceDefinition defines it. */
  readonly custom: boolean
  /** The resource under which the objects are stored, where two groups share one collection (events). */
  readonly storedAs?: { readonly group: string; readonly plural: string; readonly kind: string }
  /** Columns of a custom resource; those of built-in kinds are code. */
  readonly printerColumns?: readonly PrinterColumn[]
  /** Field selectors beyond `metadata.name` and `metadata.namespace`, such as `.spec.color`. */
  readonly selectableFields?: readonly string[]
  /** Present when a custom resource has the `scale` subresource. */
  readonly scalePaths?: ScalePaths
  /** Sent as a `Warning` header with every response when the version is deprecated. */
  readonly deprecationWarning?: string
  readonly storageVersionHash?: string
  /** Evaluates the CEL rules of a custom resource's schema; absent when it has none. */
  readonly validateRules?: RuleValidator
}

/** `deployments.apps`, `pods`: identifies a resource across versions, and a collection in the store. */
export function groupResource(of: { readonly group: string; readonly plural: string }): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`
}

/** `apps/v1`, or `v1` in the core group. */
export function apiVersionOf(of: { readonly group: string; readonly version: string }): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`
}

/** The collection in the store that contains the objects of `info`. */
export function storageKey(info: ResourceInfo): string {
  return groupResource(info.storedAs ?? info)
}

/** The `apiVersion` of stored objects of `info`. */
export function storageApiVersion(info: ResourceInfo): string {
  return apiVersionOf({ group: (info.storedAs ?? info).group, version: info.storageVersion })
}

/** Returns a subresource such as `status`. */
export function subresource(info: ResourceInfo, name: string): SubresourceInfo | undefined {
  return info.subresources.find((candidate) => candidate.name === name)
}
