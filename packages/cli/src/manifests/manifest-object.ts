/** The Kubernetes objects in documents; a List is replaced by its items. */
import { isRecord } from '@reeve/http'
import type { KubeObject, ObjectMeta } from '@reeve/kube'
import type { ManifestDocument, Position } from './manifest-file.ts'

/** An object of a file. */
export interface ManifestObject {
  readonly file: string
  readonly object: KubeObject
  readonly locate: (field: string) => Position
}

/** A document that is not a Kubernetes object. */
export interface NotAnObject extends Position {
  readonly file: string
  readonly message: string
}

/**
 * Extracts the objects of the documents, in order.
 *
 * @example
 * const objects = objectsIn(manifests.documents).filter((entry) => 'object' in entry)
 */
export function objectsIn(documents: readonly ManifestDocument[]): readonly (ManifestObject | NotAnObject)[] {
  return documents.flatMap(({ file, value, locate }) => {
    const { kind, items } = isRecord(value) ? value : {}
    if (kind !== 'List' || !Array.isArray(items)) return [asObject(file, value, locate)]
    return items.map((item, index) => asObject(file, item, (field) => locate(`items[${index}].${field}`)))
  })
}

function asObject(file: string, value: unknown, locate: ManifestObject['locate']): ManifestObject | NotAnObject {
  const { apiVersion, kind, metadata } = isRecord(value) ? value : {}
  if (!isRecord(value) || typeof apiVersion !== 'string' || typeof kind !== 'string') {
    return { file, ...locate('kind'), message: 'is not a Kubernetes object: apiVersion and kind are missing' }
  }
  // Other members of metadata are not checked; callers that need them check them.
  if (isRecord(metadata)) return { file, object: { ...value, apiVersion, kind, metadata }, locate }
  if (metadata === undefined || metadata === null) {
    return { file, object: { ...value, apiVersion, kind, metadata: {} }, locate }
  }
  return { file, ...locate('metadata'), message: 'metadata: must be an object, with the name of the object' }
}

/**
 * The title of an object in messages.
 *
 * @example
 * titleOf(dynakube) // DynaKube dynatrace/dynakube
 */
export function titleOf({ kind, metadata }: KubeObject): string {
  const [namespace, name, generateName] = (['namespace', 'name', 'generateName'] as const).map((field) =>
    textAt(metadata, field),
  )
  const called = name ?? (generateName === undefined ? '(no name)' : `${generateName}…`)
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${called}`
}

/** In an object from a file, even the name may not be a string. */
function textAt(metadata: ObjectMeta, field: 'namespace' | 'name' | 'generateName'): string | undefined {
  const value: unknown = metadata[field]
  return typeof value === 'string' ? value : undefined
}
