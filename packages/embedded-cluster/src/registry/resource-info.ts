/** What the server knows about one kind in one version. */
import type { Schema } from '../schema/schema.ts'

export interface SubresourceInfo {
  /** Such as `status` or `scale`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly string[]
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
}

/** `deployments.apps`, `pods`: names a resource across versions, and a collection in the store. */
export function groupResource(of: { readonly group: string; readonly plural: string }): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`
}
