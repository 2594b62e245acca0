/** Finds rendered objects, and their parts that tests use. */
import type { Deployment, UnknownObject } from '@reeve/kube'

/** A rule of a role, as rendered. */
export interface RenderedRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

/** `Kind name` of every object, sorted. */
export const namesOf = (objects: readonly UnknownObject[]): readonly string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()

/** The object of this kind and name; `undefined` when it is not rendered. */
export function find(objects: readonly UnknownObject[], kind: string, name: string): UnknownObject | undefined {
  return objects.find((object) => object.kind === kind && object.metadata.name === name)
}

/** The rules of a Role or ClusterRole; none when it is not rendered. */
export function rulesOf(objects: readonly UnknownObject[], kind: string, name: string): readonly RenderedRule[] {
  // Roles have rules; the tests say which.
  return (find(objects, kind, name)?.rules ?? []) as readonly RenderedRule[]
}

/** A rendered Deployment with its pod, first container and the container's plain environment variables. */
export function deploymentOf(objects: readonly UnknownObject[], name: string) {
  const deployment = find(objects, 'Deployment', name) as (UnknownObject & Deployment) | undefined
  const template = deployment?.spec?.template
  const pod = template?.spec
  const container = pod?.containers[0]
  const env = Object.fromEntries((container?.env ?? []).map(({ name: variable, value }) => [variable, value]))
  return { deployment, template, pod, container, env }
}
