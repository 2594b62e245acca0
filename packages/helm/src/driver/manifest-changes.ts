/** Compares two manifests object by object. */
import { isRecord } from '@reeve/http'
import type { UnknownObject } from '@reeve/kube'
import { manifestObjects } from './read-manifest.ts'

/** One object that would change. */
export interface ManifestChange {
  readonly change: 'create' | 'update' | 'delete'
  readonly apiVersion: string
  readonly kind: string
  /** Absent when the manifest has none, as the release decides, and for objects of the cluster. */
  readonly namespace?: string
  readonly name: string
  /** Paths of the fields that differ, such as `spec.replicas`; never their values. Empty unless `update`. */
  readonly fields: readonly string[]
}

/** Fields below this are reported as one. */
const MAX_DEPTH = 20

/** An object with more differences than this has simply changed. */
const MAX_FIELDS = 100

/**
 * The difference of two manifests. The same object in another version of its API is an update, as it is for Helm.
 *
 * @example
 * manifestChanges(previous.manifest, next.manifest)
 * // [{ change: 'update', kind: 'Deployment', name: 'web', fields: ['spec.replicas'], … }]
 */
export function manifestChanges(before: string, after: string): readonly ManifestChange[] {
  const old = byIdentity(manifestObjects(before))
  const next = byIdentity(manifestObjects(after))
  const changed = [...next].flatMap(([id, object]) => {
    const previous = old.get(id)
    if (previous === undefined) return [describe('create', object)]
    const fields: string[] = []
    compare(previous, object, '', fields)
    return fields.length === 0 ? [] : [describe('update', object, fields)]
  })
  const deleted = [...old].filter(([id]) => !next.has(id)).map(([, object]) => describe('delete', object))
  return [...changed, ...deleted]
}

function byIdentity(objects: readonly UnknownObject[]): ReadonlyMap<string, UnknownObject> {
  return new Map(
    objects.map((object) => {
      const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : ''
      return [JSON.stringify([group, object.kind, object.metadata.namespace ?? '', object.metadata.name]), object]
    }),
  )
}

function describe(
  change: ManifestChange['change'],
  { apiVersion, kind, metadata }: UnknownObject,
  fields: readonly string[] = [],
): ManifestChange {
  const { name = '', namespace } = metadata
  return { change, apiVersion, kind, ...(namespace !== undefined && { namespace }), name, fields }
}

function compare(before: unknown, after: unknown, path: string, fields: string[], depth = 0): void {
  if (fields.length >= MAX_FIELDS || Object.is(before, after)) return
  const isDeep = depth >= MAX_DEPTH
  if (!isDeep && isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(before[key], after[key], path === '' ? key : `${path}.${key}`, fields, depth + 1)
    }
  } else if (!isDeep && Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    for (let index = 0; index < length; index++) {
      compare(before[index], after[index], `${path}[${index}]`, fields, depth + 1)
    }
  } else if (!isDeep || JSON.stringify(before) !== JSON.stringify(after)) {
    fields.push(path)
  }
}
