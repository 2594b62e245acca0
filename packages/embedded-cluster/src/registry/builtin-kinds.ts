/** The kinds that every cluster has, read and resolved once for all clusters of a process. */
import { type GroupVersionKind, loadBuiltinSchemas } from '../schema/definitions.ts'
import type { Schema } from '../schema/schema.ts'
import { loadBuiltinResources } from './builtin-resources.ts'
import type { ResourceInfo } from './resource-info.ts'

/** Kubernetes' own kinds. Nothing in it ever changes. */
export interface BuiltinKinds {
  readonly schemaOf: (kind: GroupVersionKind) => Schema | undefined
  readonly resources: readonly ResourceInfo[]
}

let known: BuiltinKinds | undefined

/**
 * Answers with the same value every time: whoever starts a thousand clusters, as an exploration does, resolves the
 * schemas once, and what is derived from a schema or a resource is found again by its identity.
 */
export function builtinKinds(): BuiltinKinds {
  if (known === undefined) {
    const schemaOf = loadBuiltinSchemas()
    known = { schemaOf, resources: loadBuiltinResources(schemaOf) }
  }
  return known
}
