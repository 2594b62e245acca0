/** Parses a stored CustomResourceDefinition for the rest of the server. */
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts'

/** The resource of CustomResourceDefinitions. */
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** Keeps a definition until its instances are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

/** The names of a custom resource. */
export interface DefinitionNames {
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly kind: string
  readonly listKind: string
  readonly categories: readonly string[]
}

/** One entry of `spec.versions`. */
export interface DefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated: boolean
  readonly deprecationWarning: string | undefined
  /** `schema.openAPIV3Schema` as written; absent when the version has none. */
  readonly schema: JsonObject | undefined
  readonly subresources: JsonObject
  readonly printerColumns: readonly JsonObject[]
  readonly selectableFields: readonly JsonObject[]
}

/** A parsed CustomResourceDefinition. */
export interface Definition {
  /** The name of the definition itself: `widgets.example.com`. */
  readonly name: string
  readonly group: string
  readonly scope: string
  readonly names: DefinitionNames
  readonly versions: readonly DefinitionVersion[]
  readonly conversion: JsonObject
  readonly isDeleting: boolean
}

/**
 * Parses `crd` leniently: fields that are missing or have another type are treated as empty; validation is separate.
 */
export function readDefinition(crd: JsonObject): Definition {
  const spec = objectAt(crd, 'spec')
  const metadata = objectAt(crd, 'metadata')
  return {
    name: stringAt(metadata, 'name') ?? '',
    group: stringAt(spec, 'group') ?? '',
    scope: stringAt(spec, 'scope') ?? '',
    names: readNames(objectAt(spec, 'names')),
    versions: objectsAt(spec, 'versions').map(readVersion),
    conversion: objectAt(spec, 'conversion'),
    isDeleting: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
  }
}

/** Parses `spec.names` or `status.acceptedNames`. */
export function readNames(names: JsonObject): DefinitionNames {
  return {
    plural: stringAt(names, 'plural') ?? '',
    singular: stringAt(names, 'singular') ?? '',
    shortNames: stringsAt(names, 'shortNames'),
    kind: stringAt(names, 'kind') ?? '',
    listKind: stringAt(names, 'listKind') ?? '',
    categories: stringsAt(names, 'categories'),
  }
}

function readVersion(version: JsonObject): DefinitionVersion {
  const schema = objectAt(version, 'schema').openAPIV3Schema
  return {
    name: stringAt(version, 'name') ?? '',
    served: version.served === true,
    storage: version.storage === true,
    deprecated: version.deprecated === true,
    deprecationWarning: stringAt(version, 'deprecationWarning'),
    schema: isJsonObject(schema) ? schema : undefined,
    subresources: objectAt(version, 'subresources'),
    printerColumns: objectsAt(version, 'additionalPrinterColumns'),
    selectableFields: objectsAt(version, 'selectableFields'),
  }
}

/** The objects in a list; other items are skipped. */
function objectsAt(object: JsonObject, field: string): readonly JsonObject[] {
  return arrayAt(object, field).filter(isJsonObject)
}

/** The strings in a list; other items are skipped. */
export function stringsAt(object: JsonObject, field: string): readonly string[] {
  return arrayAt(object, field).filter((value: JsonValue) => typeof value === 'string')
}
