/** The resources every cluster has, read from the discovery table of a real server. */
import { readFileSync } from 'node:fs'
import { dataFile } from '../data-file.ts'
import type { Schema } from '../schema/schema.ts'
import { unservedResources } from './inactive-resources.ts'
import { groupResource, type ResourceInfo, type SubresourceInfo } from './resource-info.ts'

interface DiscoveryTable {
  readonly groups: readonly { readonly name: string; readonly versions: readonly string[] }[]
  readonly resources: readonly DiscoveredResource[]
}

interface DiscoveredResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly SubresourceInfo[]
  readonly storageVersionHash?: string
}

/** Finds the schema of a kind. */
export type SchemaLookup = (kind: {
  readonly group: string
  readonly version: string
  readonly kind: string
}) => Schema | undefined

/** Kinds with several versions, and the one they are stored in. */
const storageVersions: Readonly<Record<string, string>> = { 'autoscaling/horizontalpodautoscalers': 'v2' }

/** What the real server tells everybody who still uses these. */
const deprecations: Readonly<Record<string, string>> = {
  '/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  '/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
}

/** Reads the table shipped with the package. Schemas are looked up when first needed. */
export function loadBuiltinResources(schemaOf: SchemaLookup): readonly ResourceInfo[] {
  const text = readFileSync(dataFile('discovery.json'), 'utf8')
  // The file is generated for this shape and checked by the tests.
  const table = JSON.parse(text) as DiscoveryTable
  return table.resources
    .filter(({ group, resource }) => !unservedResources.has(groupResource({ group, plural: resource })))
    .map((entry) => describe(entry, schemaOf))
}

function describe(entry: DiscoveredResource, schemaOf: SchemaLookup): ResourceInfo {
  const { group, version, kind, resource: plural } = entry
  const deprecationWarning = deprecations[`${group}/${plural}`]
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: entry.singular,
    namespaced: entry.namespaced,
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    verbs: entry.verbs,
    subresources: entry.subresources ?? [],
    storageVersion: storageVersions[`${group}/${plural}`] ?? version,
    get schema() {
      return schemaOf({ group, version, kind })
    },
    custom: false,
    ...(group === 'events.k8s.io' ? { storedAs: { group: '', plural: 'events', kind: 'Event' } } : {}),
    ...(deprecationWarning === undefined ? {} : { deprecationWarning }),
    ...(entry.storageVersionHash === undefined ? {} : { storageVersionHash: entry.storageVersionHash }),
  }
}
