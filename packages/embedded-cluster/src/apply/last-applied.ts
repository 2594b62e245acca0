/** Migration from kubectl's client-side apply, which stores the applied configuration in an annotation. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { canonicalJson, ownField } from '../schema/json-value.ts'
import type { Schema } from '../schema/schema.ts'
import { compareValues } from './compare.ts'
import { differenceOf, type FieldSet } from './field-set.ts'
import { withoutManagedFields } from './managed-fields.ts'
import { ownedFields } from './owned-fields.ts'

/** The manager whose ownership is derived from the annotation. */
export const kubectlManager = 'kubectl'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** Limit for all annotations of an object together. */
const maxAnnotationBytes = 256 * 1024

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object.metadata
  if (!isJsonObject(metadata)) return undefined
  const annotations = metadata.annotations
  return isJsonObject(annotations) ? annotations : undefined
}

/**
 * The fields whose live value is still the one that client-side apply set last. Server-side apply by kubectl may
 * overwrite them without a conflict. `undefined` when there is no usable annotation.
 */
export function fieldsFromLastApplied(type: Schema, apiVersion: string, live: JsonObject): FieldSet | undefined {
  const annotations = annotationsOf(live)
  const text = annotations === undefined ? undefined : ownField(annotations, annotation)
  if (typeof text !== 'string' || text === '') return undefined
  let lastApplied: JsonValue
  try {
    lastApplied = JSON.parse(text)
  } catch {
    // A malformed annotation is ignored; the conflict remains.
    return undefined
  }
  if (!isJsonObject(lastApplied) || lastApplied.apiVersion !== apiVersion) return undefined
  const { changed, removed } = compareValues(type, lastApplied, live)
  return differenceOf(differenceOf(ownedFields(type, lastApplied), changed), removed)
}

/** Updates the annotation, if the object has one, when kubectl uses server-side apply. */
export function refreshLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const annotations = annotationsOf(object)
  const current = annotations === undefined ? undefined : ownField(annotations, annotation)
  if (annotations === undefined || typeof current !== 'string' || current === '') return object
  const text = `${canonicalJson(withoutAnnotation(withoutManagedFields(applied)))}\n`
  if (text === current) return object
  const size = Object.entries({ ...annotations, [annotation]: text }).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)),
    0,
  )
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...annotations, [annotation]: size > maxAnnotationBytes ? '' : text } },
  }
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const annotations = annotationsOf(applied)
  const metadata = applied.metadata
  if (annotations === undefined || !isJsonObject(metadata) || ownField(annotations, annotation) === undefined) {
    return applied
  }
  const { [annotation]: _, ...rest } = annotations
  return { ...applied, metadata: { ...metadata, annotations: rest } }
}
