/** Parses the two formats of discovery: aggregated, or an index and one list per group version. */
import { isRecord, type JsonRecord } from '@reeve/http'
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

/** The response of `/api` or `/apis`, in either format. Malformed entries are left out. */
export function parseAggregated(document: unknown): DiscoveryDocument {
  const { kind } = isRecord(document) ? document : {}
  if (kind === 'APIGroupDiscoveryList') {
    return { isAggregated: true, resources: records(document, 'items').flatMap(resourcesOfGroup) }
  }
  if (kind === 'APIVersions') return { isAggregated: false, groupVersions: texts(document, 'versions') }
  const versions = records(document, 'groups').flatMap((group) => records(group, 'versions'))
  return { isAggregated: false, groupVersions: versions.flatMap((version) => text(version, 'groupVersion') ?? []) }
}

/** The response of `/api/v1` or `/apis/<group>/<version>`. */
export function parseResourceList(document: unknown, groupVersion: string): readonly ApiResource[] {
  const slash = groupVersion.indexOf('/')
  const group = slash === -1 ? '' : groupVersion.slice(0, slash)
  const version = groupVersion.slice(slash + 1)
  return records(document, 'resources').flatMap((entry) => {
    const [kind, plural] = [text(entry, 'kind'), text(entry, 'name')]
    if (kind === undefined || plural === undefined || plural.includes('/')) return []
    return [describe(group, version, kind, plural, entry.namespaced === true, entry)]
  })
}

function resourcesOfGroup(group: JsonRecord): ApiResource[] {
  const name = text(group.metadata, 'name') ?? ''
  return records(group, 'versions').flatMap((served) =>
    records(served, 'resources').flatMap((entry) => {
      const [version, plural] = [text(served, 'version'), text(entry, 'resource')]
      // An unavailable extension server is listed without kinds.
      const kind = text(entry.responseKind, 'kind')
      if (version === undefined || plural === undefined || !kind) return []
      return [describe(name, version, kind, plural, entry.scope === 'Namespaced', entry)]
    }),
  )
}

function describe(
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced: boolean,
  entry: JsonRecord,
): ApiResource {
  return Object.freeze({
    group,
    version,
    kind,
    plural,
    namespaced,
    apiVersion: apiVersionOf({ group, version }),
    verbs: texts(entry, 'verbs'),
    shortNames: texts(entry, 'shortNames'),
    categories: texts(entry, 'categories'),
  })
}

function text(value: unknown, name: string): string | undefined {
  const member = isRecord(value) ? value[name] : undefined
  return typeof member === 'string' ? member : undefined
}

function texts(value: unknown, name: string): readonly string[] {
  return list(value, name).filter((item) => typeof item === 'string')
}

function records(value: unknown, name: string): readonly JsonRecord[] {
  return list(value, name).filter(isRecord)
}

function list(value: unknown, name: string): readonly unknown[] {
  const member = isRecord(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}
