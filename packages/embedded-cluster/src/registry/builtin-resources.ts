/** The built-in resources, read from the discovery table of a real server. */
import { readFileSync } from 'node:fs'
import { dataFile } from '../data-file.ts'
import { type GroupVersionKind, loadBuiltinSchemas } from '../schema/definitions.ts'
import type { Schema } from '../schema/schema.ts'
import { groupResource, type ResourceInfo, type SubresourceInfo } from './resource-info.ts'

/** The format of `data/discovery.json`. Groups and versions are in the order of the server. */
export interface DiscoveryTable {
  /** The core group has the name `''` and comes first. */
  readonly groups: readonly {
    readonly name: string
    readonly versions: readonly string[]
    readonly preferredVersion: string
  }[]
  readonly resources: readonly DiscoveredResource[]
}

/** One resource in one version. Subresources have the kind of the resource itself except for Scale, Eviction and similar. */
export interface DiscoveredResource {
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

/** Returns the schema of a kind. */
export type SchemaLookup = (kind: {
  readonly group: string
  readonly version: string
  readonly kind: string
}) => Schema | undefined

/** Kinds with several versions, and their storage version. */
const storageVersions: Readonly<Record<string, string>> = { 'autoscaling/horizontalpodautoscalers': 'v2' }

/** Deprecation warnings of the real server. */
const deprecations: Readonly<Record<string, string>> = {
  '/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  '/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
}

/** Reads the table in this package. Schemas are looked up on first use. */
function loadBuiltinResources(schemaOf: SchemaLookup): readonly ResourceInfo[] {
  const text = readFileSync(dataFile('discovery.json'), 'utf8')
  // The file is generated with this shape and verified by tests.
  const table = JSON.parse(text) as DiscoveryTable
  return table.resources.map((entry) => describe(entry, schemaOf))
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

/** Reasons for the warning about objects that are stored and validated, but have no effect. */
const withoutEffect: Readonly<Record<string, string>> = {
  'horizontalpodautoscalers.autoscaling': 'no workload is scaled automatically',
  'apiservices.apiregistration.k8s.io': 'no other API server is called',
  'flowschemas.flowcontrol.apiserver.k8s.io': 'requests are not queued by priority',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': 'requests are not queued by priority',
  'certificatesigningrequests.certificates.k8s.io': 'no certificate is issued',
  'servicecidrs.networking.k8s.io': 'addresses of Services are allocated from a fixed range',
}

/** The warning for a new object of this resource, or `undefined` when it has its usual effect. */
export function noEffectWarning(of: { readonly group: string; readonly plural: string }): string | undefined {
  const why = withoutEffect[groupResource(of)]
  return why === undefined ? undefined : `the embedded cluster stores ${of.plural} but does not act on them: ${why}`
}

/** The built-in kinds of Kubernetes. Immutable. */
export interface BuiltinKinds {
  readonly schemaOf: (kind: GroupVersionKind) => Schema | undefined
  readonly resources: readonly ResourceInfo[]
}

let known: BuiltinKinds | undefined

/**
 * Always returns the same value: a process that starts a thousand clusters resolves the schemas once, and values
 * derived from a schema or resource can be cached by its identity.
 */
export function builtinKinds(): BuiltinKinds {
  if (known === undefined) {
    const schemaOf = loadBuiltinSchemas()
    known = { schemaOf, resources: loadBuiltinResources(schemaOf) }
  }
  return known
}
