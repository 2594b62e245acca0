/** Parses the two formats of discovery: aggregated, or an index and one list per group version. */
import type { UnknownObject } from './objects.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** A resource as the server describes it. */
export interface ApiResource extends Resource<UnknownObject> {
  readonly apiVersion: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

/** Either all resources, or the group versions whose lists have to be read one by one. */
export type DiscoveryDocument =
  | { readonly isAggregated: true; readonly resources: readonly ApiResource[] }
  | { readonly isAggregated: false; readonly groupVersions: readonly string[] }

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string }
  readonly versions?: readonly {
    readonly version: string
    readonly resources?: readonly {
      readonly resource: string
      readonly responseKind?: { readonly kind?: string }
      readonly scope?: string
      readonly verbs?: readonly string[]
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }[]
  }[]
}

interface ApiGroup {
  readonly versions?: readonly { readonly groupVersion: string }[]
}

interface ResourceListEntry {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** The response of `/api` or `/apis`, in either format. */
export function parseAggregated(document: unknown): DiscoveryDocument {
  const kind = field(document, 'kind')
  if (kind === 'APIGroupDiscoveryList') {
    return { isAggregated: true, resources: list<AggregatedGroup>(document, 'items').flatMap(resourcesOfGroup) }
  }
  if (kind === 'APIVersions') return { isAggregated: false, groupVersions: list<string>(document, 'versions') }
  const groups = list<ApiGroup>(document, 'groups')
  const groupVersions = groups.flatMap((group) => (group.versions ?? []).map((version) => version.groupVersion))
  return { isAggregated: false, groupVersions }
}

/** The response of `/api/v1` or `/apis/<group>/<version>`. */
export function parseResourceList(document: unknown, groupVersion: string): readonly ApiResource[] {
  const slash = groupVersion.indexOf('/')
  const group = slash === -1 ? '' : groupVersion.slice(0, slash)
  const version = groupVersion.slice(slash + 1)
  return list<ResourceListEntry>(document, 'resources')
    .filter((entry) => !entry.name.includes('/'))
    .map((entry) => describe(group, version, entry.kind, entry.name, entry.namespaced, entry))
}

function resourcesOfGroup(group: AggregatedGroup): ApiResource[] {
  const name = group.metadata?.name ?? ''
  return (group.versions ?? []).flatMap(({ version, resources = [] }) =>
    resources.flatMap((entry) => {
      // An unavailable extension server is listed without kinds.
      const kind = entry.responseKind?.kind
      return kind ? [describe(name, version, kind, entry.resource, entry.scope === 'Namespaced', entry)] : []
    }),
  )
}

function describe(
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced: boolean,
  more: Pick<ResourceListEntry, 'verbs' | 'shortNames' | 'categories'>,
): ApiResource {
  const { verbs = [], shortNames = [], categories = [] } = more
  const apiVersion = apiVersionOf({ group, version })
  return Object.freeze({ group, version, kind, plural, namespaced, apiVersion, verbs, shortNames, categories })
}

function field(document: unknown, name: string): unknown {
  return typeof document === 'object' && document !== null ? Reflect.get(document, name) : undefined
}

function list<E>(document: unknown, name: string): readonly E[] {
  const value = field(document, name)
  // Fields are read with fallbacks; a malformed response yields no resources.
  return Array.isArray(value) ? (value as readonly E[]) : []
}
