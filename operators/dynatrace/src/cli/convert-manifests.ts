/** Converts the DynaKubes and EdgeConnects of files and leaves everything else unchanged. */

import {
  type ManifestDocument,
  type ManifestObject,
  type Manifests,
  objectsIn,
  type Position,
  titleOf,
} from '@reeve/cli/manifests'
import { Document } from 'yaml'
import { API_GROUP, API_KINDS, type ApiKind } from '../api/kinds.ts'
import { reviewBySchema } from '../api/schema-review.ts'
import { lostFields } from './lost-fields.ts'

/** Something to say about a place in a file. */
export interface Remark extends Position {
  readonly file: string
  /** With an error there is no output; a warning is about lost fields. */
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** The outcome. */
export interface Conversion {
  /** The documents, converted or as they were; those with errors are missing. */
  readonly documents: readonly Document[]
  readonly remarks: readonly Remark[]
}

/** All versions by name; no two kinds share one. */
export function kindOfVersion(version: string): ApiKind | undefined {
  return API_KINDS.find(({ crd }) => Object.hasOwn(crd.versions, version))
}

/** Converts what is of the kind of `version`. */
export function convertManifests({ documents, problems }: Manifests, kind: ApiKind, version: string): Conversion {
  const remarks: Remark[] = problems.map((problem) => ({ ...problem, severity: 'error' }))
  const converted = documents.flatMap((document) => convertDocument(document, kind, version, remarks))
  return { documents: converted, remarks }
}

function convertDocument(
  manifest: ManifestDocument,
  kind: ApiKind,
  version: string,
  remarks: Remark[],
): readonly Document[] {
  const entries = objectsIn([manifest])
  const bad = entries.filter((entry) => 'message' in entry)
  if (bad.length > 0) {
    remarks.push(...bad.map((entry): Remark => ({ ...entry, severity: 'error' })))
    return []
  }
  const objects = entries.filter((entry): entry is ManifestObject => 'object' in entry)
  const isWanted = ({ object }: ManifestObject) =>
    object.kind === kind.crd.kind &&
    object.apiVersion.startsWith(`${API_GROUP}/`) &&
    object.apiVersion !== `${API_GROUP}/${version}`
  // What needs no conversion keeps its comments.
  if (!objects.some(isWanted)) return [manifest.document]
  const results = objects.map((entry) =>
    isWanted(entry) ? convertObject(entry, kind, version, remarks) : entry.object,
  )
  if (results.includes(undefined)) return []
  const isList = (manifest.value as { readonly kind?: unknown }).kind === 'List'
  const value = isList ? { ...(manifest.value as object), items: results } : results[0]
  // Words that kubectl would not parse as strings get quotes.
  return [new Document(value, { compat: 'yaml-1.1' })]
}

function convertObject(entry: ManifestObject, { crd, convert }: ApiKind, version: string, remarks: Remark[]) {
  const { object, file, locate } = entry
  const remark = (severity: Remark['severity'], field: string, message: string) =>
    remarks.push({ file, ...locate(field), severity, message: `${titleOf(object)}: ${message}` })
  const from = object.apiVersion.slice(API_GROUP.length + 1)
  const known = Object.keys(crd.versions)
  if (!known.includes(from)) {
    remark('error', 'apiVersion', `there is no ${object.apiVersion}; known versions are ${known.join(', ')}`)
    return undefined
  }
  const review = reviewBySchema(crd, from, object)
  for (const { field, message } of review.problems) remark('error', field, `${field} ${message}`)
  if (review.problems.length > 0) return undefined
  for (const field of review.unknownFields) remark('warning', field, `unknown field "${field}" was left out`)
  const result = convert(review.object, version)
  for (const field of lostFields(review.object, convert(result, from))) {
    remark('warning', field, `${field} has no place in ${version} and was left out or replaced`)
  }
  const { status, ...withoutStatus } = result as typeof result & { readonly status?: unknown }
  // Conversion gives every object a status, which does not belong in a file.
  return 'status' in object ? { ...withoutStatus, status } : withoutStatus
}
