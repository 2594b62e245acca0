/** All served resources, by path, kind and name; custom resources are added and removed. */
import { groupResource, type ResourceInfo } from './resource-info.ts'

/** An API group with its versions in order of preference. */
export interface GroupVersions {
  readonly group: string
  readonly versions: readonly string[]
}

/**
 * The table of served resources.
 *
 * @example
 * registry.replace('widgets.example.com', [v1alpha1, v1])
 * registry.lookup('example.com', 'v1', 'widgets')?.kind
 */
export class ResourceRegistry {
  readonly #byPath = new Map<string, ResourceInfo>()
  readonly #byKind = new Map<string, ResourceInfo>()
  readonly #byName = new Map<string, readonly ResourceInfo[]>()
  readonly #listeners = new Set<() => void>()
  #generation = 0

  /** Incremented by every change; everything derived from the registry (discovery, OpenAPI) is then stale. */
  get generation(): number {
    return this.#generation
  }

  /** Adds a resource, or replaces the same group, version and plural. */
  add(info: ResourceInfo): void {
    this.addAll([info])
  }

  /** Like {@link add} for many, with one notification. */
  addAll(infos: Iterable<ResourceInfo>): void {
    for (const info of infos) this.#insert(info)
    this.#changed()
  }

  /** Makes `infos` the only served versions of `name`, atomically: no request sees an intermediate state. */
  replace(name: string, infos: readonly ResourceInfo[]): void {
    this.#drop(name)
    for (const info of infos) this.#insert(info)
    this.#changed()
  }

  /** Stops serving every version of `name`, such as `widgets.example.com`. */
  remove(name: string): void {
    if (this.#drop(name)) this.#changed()
  }

  /** The resource at `/apis/{group}/{version}/{plural}`. */
  lookup(group: string, version: string, plural: string): ResourceInfo | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  /** The resource of this kind. */
  byKind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`)
  }

  /** All versions of `name` (`pods`, `deployments.apps`), in order of preference; empty when not served. */
  versionsOf(name: string): readonly ResourceInfo[] {
    return this.#byName.get(name) ?? []
  }

  /** The storage version of `name`, otherwise its preferred one. */
  stored(name: string): ResourceInfo | undefined {
    const versions = this.versionsOf(name)
    return versions.find((info) => info.version === info.storageVersion) ?? versions[0]
  }

  /** Every version of every resource, in the order they were added. */
  all(): readonly ResourceInfo[] {
    return [...this.#byPath.values()]
  }

  /** The resources of one group version; empty when the group version is not served. */
  inGroupVersion(group: string, version: string): readonly ResourceInfo[] {
    return this.all().filter((info) => info.group === group && info.version === version)
  }

  /** Whether the group is built in; such groups respond with a Status to unknown versions and resources. */
  hasBuiltInGroup(group: string): boolean {
    return this.all().some((info) => info.group === group && !info.custom)
  }

  /** Groups in the order of registration, each with its versions by preference. */
  groups(): readonly GroupVersions[] {
    const versions = new Map<string, Set<string>>()
    for (const info of this.#byPath.values()) {
      const known = versions.get(info.group)
      if (known === undefined) versions.set(info.group, new Set([info.version]))
      else known.add(info.version)
    }
    return [...versions].map(([group, served]) => ({ group, versions: [...served].sort(compareVersions) }))
  }

  /** Calls `listener` after every change. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #insert(info: ResourceInfo): void {
    this.#byPath.set(`${info.group}/${info.version}/${info.plural}`, info)
    this.#byKind.set(`${info.group}/${info.version}/${info.kind}`, info)
    const name = groupResource(info)
    const others = this.versionsOf(name).filter((known) => known.version !== info.version)
    this.#byName.set(
      name,
      [...others, info].sort((a, b) => compareVersions(a.version, b.version)),
    )
  }

  #drop(name: string): boolean {
    const versions = this.#byName.get(name)
    if (versions === undefined) return false
    this.#byName.delete(name)
    for (const info of versions) {
      this.#byPath.delete(`${info.group}/${info.version}/${info.plural}`)
      this.#byKind.delete(`${info.group}/${info.version}/${info.kind}`)
    }
    return true
  }

  #changed(): void {
    this.#generation += 1
    for (const listener of this.#listeners) listener()
  }
}

const pattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/
const stages: Readonly<Record<string, number>> = { ga: 2, beta: 1, alpha: 0 }

/** Sorts version names, most preferred first. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a)
  const right = rank(b)
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value
    if (difference !== 0) return difference
  }
  return 0
}

function rank(version: string): readonly number[] | undefined {
  const match = pattern.exec(version)
  if (match === null) return undefined
  const [, major, stage, minor] = match
  return [stages[stage ?? 'ga'] ?? 0, Number(major), Number(minor ?? 0)]
}
