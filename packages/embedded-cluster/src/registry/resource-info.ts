/** What the server knows about one kind in one version. */
import type { RuleValidator } from '../crd/rules.ts'
import type { Schema } from '../schema/schema.ts'

/** Something below an object, such as its status. */
export interface SubresourceInfo {
  /** Such as `status` or `scale`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly string[]
}

/** A column that `kubectl get` shows, as a CustomResourceDefinition declares it. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  /** Columns above 0 show only with `-o wide`. @default 0 */
  readonly priority?: number
}

/** Where a custom resource keeps what the `scale` subresource reads and writes. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** A served resource: built in, or made by a CustomResourceDefinition. */
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
  /** The version objects are stored in; equal to `version` unless the kind has several. */
  readonly storageVersion: string
  /** Schema of the whole object, `undefined` only where nothing is known. */
  readonly schema: Schema | undefined
  /** True when a CustomResourceDefinition defines it. */
  readonly custom: boolean
  /** The resource that holds the objects, where two groups are two views of one collection (events). */
  readonly storedAs?: { readonly group: string; readonly plural: string; readonly kind: string }
  /** Columns of a custom resource; the built-in ones are code. */
  readonly printerColumns?: readonly PrinterColumn[]
  /** Field selectors beyond `metadata.name` and `metadata.namespace`, such as `.spec.color`. */
  readonly selectableFields?: readonly string[]
  /** Present when a custom resource has the `scale` subresource. */
  readonly scalePaths?: ScalePaths
  /** Sent as a `Warning` header with every answer when the version is deprecated. */
  readonly deprecationWarning?: string
  readonly storageVersionHash?: string
  /** Applies the CEL rules of a custom resource's schema; absent when it has none. */
  readonly validateRules?: RuleValidator
}

/** `deployments.apps`, `pods`: names a resource across versions, and a collection in the store. */
export function groupResource(of: { readonly group: string; readonly plural: string }): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`
}

/** `apps/v1`, or `v1` in the core group. */
export function apiVersionOf(of: { readonly group: string; readonly version: string }): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`
}

/** The collection of the store that holds the objects of `info`. */
export function storageKey(info: ResourceInfo): string {
  return groupResource(info.storedAs ?? info)
}

/** The `apiVersion` objects of `info` are stored with. */
export function storageApiVersion(info: ResourceInfo): string {
  return apiVersionOf({ group: (info.storedAs ?? info).group, version: info.storageVersion })
}

/** Finds a subresource such as `status`. */
export function subresource(info: ResourceInfo, name: string): SubresourceInfo | undefined {
  return info.subresources.find((candidate) => candidate.name === name)
}
