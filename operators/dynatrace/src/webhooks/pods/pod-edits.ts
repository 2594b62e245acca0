/** Small changes to pods and containers. Each returns a copy, or the same value when there is nothing to change. */
import type { Container, EnvVar, Volume, VolumeMount } from '@reeve/kube'
import type { InjectablePod } from './injection-input.ts'

/** The name of the init container. */
export const INIT_CONTAINER = 'dynatrace-operator'

/** Sets annotations; `undefined` removes one. */
export function withAnnotations(
  pod: InjectablePod,
  annotations: Readonly<Record<string, string | undefined>>,
): InjectablePod {
  const before = pod.metadata.annotations ?? {}
  const changes = Object.entries(annotations).filter(([key, value]) => before[key] !== value)
  if (changes.length === 0) return pod
  const after: Record<string, string> = { ...before }
  for (const [key, value] of changes) {
    if (value === undefined) delete after[key]
    else after[key] = value
  }
  return { ...pod, metadata: { ...pod.metadata, annotations: after } }
}

/** Adds volumes; one with a name that is taken is left out, and the existing one is used. */
export function withVolumes(pod: InjectablePod, volumes: readonly Volume[]): InjectablePod {
  const existing = pod.spec.volumes ?? []
  const added = volumes.filter(({ name }) => !hasVolume(pod, name))
  return added.length === 0 ? pod : { ...pod, spec: { ...pod.spec, volumes: [...existing, ...added] } }
}

/** Whether a pod has a volume of this name. */
export const hasVolume = ({ spec }: InjectablePod, name: string): boolean =>
  spec.volumes?.some((volume) => volume.name === name) ?? false

/** Changes containers, not init containers. */
export function mapContainers(pod: InjectablePod, change: (container: Container) => Container): InjectablePod {
  const containers = pod.spec.containers.map(change)
  const isSame = containers.every((container, index) => container === pod.spec.containers[index])
  return isSame ? pod : { ...pod, spec: { ...pod.spec, containers } }
}

/** Whether a container mounts anything at a path. The API server rejects containers with two mounts there. */
export const mountsAt = ({ volumeMounts = [] }: Container, path: string): VolumeMount | undefined =>
  volumeMounts.find(({ mountPath }) => mountPath === path)

/** Adds mounts, except where the container mounts something already. */
export function withMounts(container: Container, mounts: readonly VolumeMount[]): Container {
  const added = mounts.filter(({ mountPath }) => mountsAt(container, mountPath) === undefined)
  return added.length === 0 ? container : { ...container, volumeMounts: [...(container.volumeMounts ?? []), ...added] }
}

/** The variable that counts: of several with one name the last. */
export const envOf = ({ env = [] }: Container, name: string): EnvVar | undefined =>
  env.findLast((variable) => variable.name === name)

/** Appends variables that the container does not define. */
export function withDefaultEnv(container: Container, variables: readonly EnvVar[]): Container {
  return appendEnv(
    container,
    variables.filter(({ name }) => envOf(container, name) === undefined),
  )
}

/** Appends variables. */
export function appendEnv(container: Container, variables: readonly EnvVar[]): Container {
  return variables.length === 0 ? container : { ...container, env: [...(container.env ?? []), ...variables] }
}

/** Replaces variables in place, and appends those that the container does not define. */
export function withEnv(container: Container, variables: readonly EnvVar[]): Container {
  const env = [...(container.env ?? [])]
  let hasChanged = false
  for (const variable of variables) {
    const index = env.findLastIndex(({ name }) => name === variable.name)
    const existing = env[index]
    if (existing !== undefined && isSameVariable(existing, variable)) continue
    hasChanged = true
    if (existing === undefined) env.push(variable)
    else env[index] = variable
  }
  return hasChanged ? { ...container, env } : container
}

const isSameVariable = (one: EnvVar, other: EnvVar): boolean => JSON.stringify(one) === JSON.stringify(other)

/** A variable with the value of a field of the pod. */
export const fieldVariable = (name: string, fieldPath: string): EnvVar => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
})

/** What the init container and resource attributes refer to: known only once the pod is scheduled. */
export const POD_VARIABLES: readonly EnvVar[] = [
  fieldVariable('K8S_PODNAME', 'metadata.name'),
  fieldVariable('K8S_PODUID', 'metadata.uid'),
  fieldVariable('K8S_NODE_NAME', 'spec.nodeName'),
]
