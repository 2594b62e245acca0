/** The Kubernetes objects in documents; a List stands for its items. */
import { isRecord, type KubeObject } from '@reeve/kube'
import type { ManifestDocument, Position } from './manifest-file.ts'

/** An object of a file. */
export interface ManifestObject {
  readonly file: string
  readonly object: KubeObject
  readonly locate: (field: string) => Position
}

/** Something that is no Kubernetes object. */
export interface NotAnObject extends Position {
  readonly file: string
  readonly message: string
}

/**
 * Takes the documents apart, in their order.
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
  if (isRecord(value) && typeof value.apiVersion === 'string' && typeof value.kind === 'string') {
    const { apiVersion, kind } = value
    // Metadata may hold anything: who needs more than a name checks it.
    const metadata: KubeObject['metadata'] = isRecord(value.metadata) ? value.metadata : {}
    return { file, object: { ...value, apiVersion, kind, metadata }, locate }
  }
  return { file, ...locate('kind'), message: 'is no Kubernetes object: write apiVersion and kind' }
}

/**
 * What an object is called in messages.
 *
 * @example
 * titleOf(dynakube) // DynaKube dynatrace/dynakube
 */
export function titleOf({ kind, metadata }: KubeObject): string {
  const { namespace, name, generateName } = metadata
  const called = name ?? (generateName === undefined ? '(no name)' : `${generateName}…`)
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${called}`
}
