/** The table of built-in resources, read from a server's discovery documents. */
import type { ApiClient } from '@reeve/real-cluster'
import type { DiscoveredResource, DiscoveryTable } from '../src/registry/builtin-resources.ts'

interface ApiResource {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

interface ApiGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion: { readonly version: string }
}

export async function readDiscovery(client: ApiClient): Promise<DiscoveryTable> {
  const core = await client.json<{ versions: string[] }>({ method: 'GET', path: '/api' })
  const others = await client.json<{ groups: ApiGroup[] }>({ method: 'GET', path: '/apis' })
  const groups = [
    { name: '', versions: core.versions, preferredVersion: core.versions[0] ?? '' },
    ...others.groups.map((group) => ({
      name: group.name,
      versions: group.versions.map(({ version }) => version),
      preferredVersion: group.preferredVersion.version,
    })),
  ]
  const resources: DiscoveredResource[] = []
  for (const group of groups) {
    for (const version of group.versions) {
      const path = group.name === '' ? `/api/${version}` : `/apis/${group.name}/${version}`
      const list = await client.json<{ resources: ApiResource[] }>({ method: 'GET', path })
      resources.push(...nestSubresources(group.name, version, list.resources))
    }
  }
  return { groups, resources }
}

function nestSubresources(group: string, version: string, listed: readonly ApiResource[]): DiscoveredResource[] {
  return listed
    .filter((resource) => !resource.name.includes('/'))
    .map((resource) => {
      const subresources = listed
        .filter((candidate) => candidate.name.startsWith(`${resource.name}/`))
        .map((subresource) => ({
          name: subresource.name.slice(resource.name.length + 1),
          group: subresource.group ?? group,
          version: subresource.version ?? version,
          kind: subresource.kind,
          verbs: subresource.verbs,
        }))
      return {
        group,
        version,
        resource: resource.name,
        singular: resource.singularName,
        kind: resource.kind,
        namespaced: resource.namespaced,
        verbs: resource.verbs,
        shortNames: resource.shortNames,
        categories: resource.categories,
        storageVersionHash: resource.storageVersionHash,
        subresources: subresources.length > 0 ? subresources : undefined,
      }
    })
}
