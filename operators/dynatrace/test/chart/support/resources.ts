/** Containers of rendered objects, and their requests and limits. */
import type { Container, PodTemplateSpec, UnknownObject } from '@reeve/kube'

/** Requests and limits, as a values file has them. */
export interface Resources {
  readonly requests?: Readonly<Record<string, unknown>>
  readonly limits?: Readonly<Record<string, unknown>>
}

/** All containers of rendered workloads by name, init containers included. */
export function containersOf(objects: readonly UnknownObject[]): ReadonlyMap<string, Container> {
  const containers = objects.flatMap(({ spec }) => {
    // Workloads are what has a template.
    const pod = (spec as { readonly template?: PodTemplateSpec } | undefined)?.template?.spec
    return pod === undefined ? [] : [...(pod.initContainers ?? []), ...pod.containers]
  })
  return new Map(containers.map((container) => [container.name, container]))
}

/** The resources of all containers by name; `job` are those of the Jobs that download code modules. */
export function resourcesOf(objects: readonly UnknownObject[]): Readonly<Record<string, Resources | undefined>> {
  const containers = containersOf(objects)
  const settings = containers.get('provisioner')?.env?.find(({ name }) => name === 'helm.json')?.value
  const job = settings === undefined ? undefined : JSON.parse(settings).job.resources
  return { ...Object.fromEntries([...containers].map(([name, { resources }]) => [name, resources])), job }
}
