/** The ConfigMaps, Secrets and claims that a pod requires to start. */
import type { ClusterApi } from '../../api/cluster-api.ts'
import { namespaceOf } from '../kinds/meta.ts'
import type { Container, KeyReference, Pod, Volume } from '../kinds/pods.ts'
import { mountFailure } from './csi-drivers.ts'

/** An object that a pod requires, such as `secrets/default/tls`. */
export interface Need {
  readonly resource: 'configmaps' | 'secrets' | 'persistentvolumeclaims'
  readonly name: string
  /** A required key. */
  readonly key?: string
  /** The volume that needs it; absent for the env of a container. */
  readonly volume?: string
}

/** The id of the required object, for finding the pods that wait for it. */
export function needId(resource: string, namespace: string, name: string): string {
  return `${resource}/${namespace}/${name}`
}

/** References of the pod's volumes. */
export function volumeNeeds(pod: Pod): Need[] {
  return (pod.spec.volumes ?? []).flatMap((volume) =>
    needsOfVolume(volume).map((need) => ({ ...need, volume: volume.name })),
  )
}

function needsOfVolume({ configMap, secret, projected, persistentVolumeClaim }: Volume): Need[] {
  const needs: Need[] = []
  if (configMap !== undefined)
    needs.push(...required('configmaps', { name: configMap.name, optional: configMap.optional }))
  if (secret !== undefined) needs.push(...required('secrets', { name: secret.secretName, optional: secret.optional }))
  for (const source of projected?.sources ?? []) {
    if (source.configMap !== undefined) needs.push(...required('configmaps', { ...source.configMap, key: undefined }))
    if (source.secret !== undefined) needs.push(...required('secrets', { ...source.secret, key: undefined }))
  }
  if (persistentVolumeClaim !== undefined) {
    needs.push({ resource: 'persistentvolumeclaims', name: persistentVolumeClaim.claimName })
  }
  return needs
}

/** References in the env of a container. */
export function containerEnvNeeds(container: Container): Need[] {
  return [
    ...(container.envFrom ?? []).flatMap(({ configMapRef, secretRef }) => [
      ...required('configmaps', configMapRef),
      ...required('secrets', secretRef),
    ]),
    ...(container.env ?? []).flatMap(({ valueFrom }) => [
      ...required('configmaps', valueFrom?.configMapKeyRef),
      ...required('secrets', valueFrom?.secretKeyRef),
    ]),
  ]
}

type Reference = { readonly [Field in keyof KeyReference]?: KeyReference[Field] | undefined }

function required(resource: Need['resource'], reference: Reference | undefined): Need[] {
  if (reference?.name === undefined || reference.optional === true) return []
  const { name, key } = reference
  return [key === undefined ? { resource, name } : { resource, name, key }]
}

/** A missing dependency. */
export interface UnmetNeed {
  /** The {@link needId}. */
  readonly id: string
  readonly message: string
}

/** The first missing dependency. */
export function unmet(api: ClusterApi, pod: Pod, needs: readonly Need[]): UnmetNeed | undefined {
  const namespace = namespaceOf(pod)
  for (const { resource, name, key, volume } of needs) {
    const object = api.get(resource, namespace, name)
    const id = needId(resource, namespace, name)
    const kind = resource.slice(0, -1)
    if (object === undefined) {
      const problem = `${kind} "${name}" not found`
      return { id, message: volume === undefined ? problem : mountFailure(volume, problem) }
    }
    if (key === undefined) continue
    const hasKey = [object.data, object.binaryData].some((data) => Object.hasOwn(Object(data), key))
    if (!hasKey) return { id, message: `${kind} "${name}" has no key "${key}"` }
  }
  return undefined
}
