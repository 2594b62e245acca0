/** Converts a CustomResourceDefinition into the resources that the server serves for it, one per served version. */
import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, stringAt } from '../json.ts'
import type { PrinterColumn, ResourceInfo, ScalePaths, SubresourceInfo } from '../registry/resource-info.ts'
import { compareVersions } from '../registry/resource-registry.ts'
import { objectMetaSchema } from '../schema/object-meta.ts'
import type { Schema } from '../schema/schema.ts'
import type { Definition, DefinitionNames, DefinitionVersion } from './definition.ts'
import type { RuleEngine } from './rules.ts'

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const subresourceVerbs = ['get', 'patch', 'update']

/** The resources of `definition` with its accepted names, in the order of its versions; `engine` compiles rules. */
export function resourceInfos(
  definition: Definition,
  names: DefinitionNames,
  engine: RuleEngine | undefined,
): ResourceInfo[] {
  const storage = definition.versions.find((version) => version.storage)
  if (storage === undefined) return []
  return definition.versions
    .filter((version) => version.served)
    .map((version) => ({ version, compiled: compileSchema(version.schema ?? {}, engine) }))
    .map(({ version, compiled: { schema, validateRules } }) => ({
      group: definition.group,
      version: version.name,
      kind: names.kind,
      listKind: names.listKind,
      plural: names.plural,
      singular: names.singular,
      namespaced: definition.scope === 'Namespaced',
      shortNames: names.shortNames,
      categories: names.categories,
      verbs,
      subresources: subresources(definition, names, version),
      storageVersion: storage.name,
      schema,
      custom: true,
      printerColumns: version.printerColumns.map(printerColumn),
      selectableFields: version.selectableFields.map((field) => stringAt(field, 'jsonPath') ?? ''),
      ...(isJsonObject(version.subresources.scale) ? { scalePaths: scalePaths(version.subresources.scale) } : {}),
      ...(version.deprecated ? { deprecationWarning: deprecationWarning(definition, names, version) } : {}),
      storageVersionHash: storageVersionHash(definition.group, storage.name, names.kind),
      ...(validateRules && { validateRules }),
    }))
}

type CompiledSchema = Pick<ResourceInfo, 'schema' | 'validateRules'>

/** By the schema as stored. Clusters that adopt the same definition share what is compiled from it. */
const compiledSchemas = new WeakMap<JsonObject, CompiledSchema & { readonly engine: RuleEngine | undefined }>()

function compileSchema(declared: JsonObject, engine: RuleEngine | undefined): CompiledSchema {
  const known = compiledSchemas.get(declared)
  if (known !== undefined && known.engine === engine) return known
  const validateRules = engine?.validator(declared)
  const compiled = { engine, schema: objectSchema(declared), ...(validateRules && { validateRules }) }
  // A schema that can still change must be compiled again.
  if (Object.isFrozen(declared)) compiledSchemas.set(declared, compiled)
  return compiled
}

/**
 * The schema of a whole object: the declared schema plus the fields that every object has. A definition may only
 * restrict the name in `metadata`; the rest of it is the same for all kinds.
 */
function objectSchema(declared: JsonObject): Schema {
  // It was validated as a schema before it was stored; parsing it again would only copy it.
  const schema = declared as Schema
  const own = schema.properties?.metadata?.properties ?? {}
  const metadata: Schema = {
    ...objectMetaSchema,
    properties: {
      ...objectMetaSchema.properties,
      name: { ...own.name, type: 'string' },
      generateName: { ...own.generateName, type: 'string' },
    },
  }
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata,
    },
  }
}

/**
 * The warning for clients of a deprecated version, which names the best newer version unless the author wrote another
 * text.
 */
function deprecationWarning(definition: Definition, names: DefinitionNames, version: DefinitionVersion): string {
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const at = (name: string) => `${definition.group}/${name} ${names.kind}`
  const [better] = definition.versions
    .filter((other) => other.served && !other.deprecated && compareVersions(other.name, version.name) < 0)
    .map((other) => other.name)
    .sort(compareVersions)
  const warning = `${at(version.name)} is deprecated`
  return better === undefined ? warning : `${warning}; use ${at(better)}`
}

function subresources(definition: Definition, names: DefinitionNames, version: DefinitionVersion): SubresourceInfo[] {
  const found: SubresourceInfo[] = []
  if (isJsonObject(version.subresources.status)) {
    const own = { group: definition.group, version: version.name, kind: names.kind }
    found.push({ name: 'status', ...own, verbs: subresourceVerbs })
  }
  if (isJsonObject(version.subresources.scale)) {
    found.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: subresourceVerbs })
  }
  return found
}

function printerColumn(column: JsonObject): PrinterColumn {
  const format = stringAt(column, 'format')
  const description = stringAt(column, 'description')
  return {
    name: stringAt(column, 'name') ?? '',
    type: stringAt(column, 'type') ?? '',
    jsonPath: stringAt(column, 'jsonPath') ?? '',
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    ...(typeof column.priority === 'number' ? { priority: column.priority } : {}),
  }
}

function scalePaths(scale: JsonObject): ScalePaths {
  const labelSelectorPath = stringAt(scale, 'labelSelectorPath')
  return {
    specReplicasPath: stringAt(scale, 'specReplicasPath') ?? '',
    statusReplicasPath: stringAt(scale, 'statusReplicasPath') ?? '',
    ...(labelSelectorPath === undefined ? {} : { labelSelectorPath }),
  }
}

/** Lets clients detect whether two versions share a storage; computed as the real server does. */
function storageVersionHash(group: string, version: string, kind: string): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}
