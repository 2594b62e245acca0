/** CustomResourceDefinitions for cases, each in a unique group. */
import { randomBytes } from 'node:crypto'
import { ApiResource } from './api-resource.ts'
import type { ConformanceApi, Json } from './conformance-api.ts'
import { until } from './until.ts'

/** The path of definitions. */
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Options besides one version `v1` of the kind Widget. */
export interface DefinitionParts {
  readonly group?: string
  readonly metadata?: Json
  readonly names?: Json
  /** Fields of `spec` besides group, names, scope and versions. */
  readonly spec?: Json
  /** The schema of `spec` of an object; its other fields are not restricted. */
  readonly properties?: Json
  /** Fields of the version besides its name. */
  readonly version?: Json
  /** All versions, instead of the default one. */
  readonly versions?: Json
}

/** A group no other case uses. */
export function uniqueGroup(): string {
  return `g${randomBytes(4).toString('hex')}.example.com`
}

/** A schema whose `spec` has these properties and whose status accepts anything. */
export function schemaOf(properties: Json, more: Json = {}): Json {
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties, ...more }, status } },
  }
}

/** One served version. */
export function versionOf(name: string, parts: Json = {}): Json {
  return { name, served: true, storage: false, schema: schemaOf({ a: { type: 'string' } }), ...parts }
}

/** A definition of Widgets. */
export function definitionOf(group: string, parts: DefinitionParts = {}): Json {
  const { properties, versions } = parts
  const schema = properties === undefined ? {} : { schema: schemaOf(properties) }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}`, ...parts.metadata },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', ...parts.names },
      versions: versions ?? [versionOf('v1', { storage: true, ...schema, ...parts.version })],
      ...parts.spec,
    },
  }
}

/**
 * Stores a definition and waits until objects can be written.
 *
 * @example
 * const widgets = await defineWidgets(api, { properties: { color: { type: 'string' } } })
 * await widgets.create('red', { spec: { color: 'red' } })
 */
export async function defineWidgets(api: ConformanceApi, parts: DefinitionParts = {}): Promise<ApiResource> {
  const group = parts.group ?? uniqueGroup()
  const definition = await api.create(DEFINITIONS, definitionOf(group, parts))
  api.cluster.removeAtClose(`${DEFINITIONS}/${definition.metadata.name}`)
  const version = definition.spec.versions.find(({ storage }: Json) => storage).name
  const namespace = definition.spec.scope === 'Cluster' ? {} : { namespace: () => api.namespace }
  const place = { apiVersion: `${group}/${version}`, kind: 'Widget', plural: 'widgets', ...namespace }
  const widgets = new ApiResource(api, place)
  await untilServed(widgets)
  return widgets
}

/**
 * Deletes the definition of a group with all its objects. A conversion webhook must outlive that: objects that cannot
 * be read block the deletion of every namespace.
 */
export async function removeDefinition(api: ConformanceApi, group: string): Promise<void> {
  const path = `${DEFINITIONS}/widgets.${group}`
  await api.delete(path)
  await until(`${path} is deleted`, async () => (await api.get(path)).status === 404)
}

/**
 * Waits until a custom resource is served according to its current definition: a dry-run write uses all of it, which a
 * read does not.
 */
export async function untilServed(widgets: ApiResource): Promise<void> {
  await until(`${widgets.path()} is served`, async () => {
    const { status } = await widgets.create('probe', {}, { query: 'dryRun=All' })
    return status !== 404
  })
}
