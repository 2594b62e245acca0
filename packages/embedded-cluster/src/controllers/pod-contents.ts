/** What a simulated container could read: environment variables and mounted files, from the pod's spec. */
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { namespaceOf } from './kinds/meta.ts'
import type { Pod } from './kinds/pods.ts'

const FILES = 'simulator.reeve.dev/files'

/** Finds an object in the cluster, such as `('secrets', 'shop', 'web')`. */
export type ObjectLookup = (resource: string, namespace: string, name: string) => JsonObject | undefined

interface Reference {
  readonly name?: string
  readonly key?: string
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly configMapKeyRef?: Reference
    readonly secretKeyRef?: Reference
    readonly fieldRef?: { readonly fieldPath?: string }
  }
}

interface Mounting {
  readonly name: string
  readonly env?: readonly Variable[]
  readonly envFrom?: readonly {
    readonly prefix?: string
    readonly configMapRef?: Reference
    readonly secretRef?: Reference
  }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[]
}

/** The environment of a container: literal values, keys of ConfigMaps and Secrets, and fields of the pod. */
export function containerEnvironment(pod: Pod, container: string, lookup: ObjectLookup): Map<string, string> {
  const namespace = namespaceOf(pod)
  const { env = [], envFrom = [] } = findContainer(pod, container)
  const variables = new Map([
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOSTNAME', pod.metadata.name],
  ])
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const texts = {
      ...configMapTexts(lookup('configmaps', namespace, configMapRef?.name ?? '')),
      ...secretTexts(lookup('secrets', namespace, secretRef?.name ?? '')),
    }
    for (const [key, text] of Object.entries(texts)) variables.set(`${prefix}${key}`, text)
  }
  for (const { name, value, valueFrom } of env) {
    const found = value ?? referenced(pod, valueFrom, lookup)
    if (found !== undefined) variables.set(name, found)
  }
  return variables
}

function referenced(pod: Pod, source: Variable['valueFrom'], lookup: ObjectLookup): string | undefined {
  const namespace = namespaceOf(pod)
  const { configMapKeyRef, secretKeyRef, fieldRef } = source ?? {}
  if (configMapKeyRef !== undefined) {
    return configMapTexts(lookup('configmaps', namespace, configMapKeyRef.name ?? ''))[configMapKeyRef.key ?? '']
  }
  if (secretKeyRef !== undefined) {
    return secretTexts(lookup('secrets', namespace, secretKeyRef.name ?? ''))[secretKeyRef.key ?? '']
  }
  const path = fieldRef?.fieldPath ?? ''
  let value: unknown = pod
  for (const step of path.split('.')) value = isJsonObject(value) ? value[step] : undefined
  return typeof value === 'string' ? value : undefined
}

/**
 * The files of a container by their path: its volumes from ConfigMaps and Secrets, and the object of the annotation
 * `simulator.reeve.dev/files`, from path to content.
 */
export function containerFiles(pod: Pod, container: string, lookup: ObjectLookup): Map<string, string> {
  const namespace = namespaceOf(pod)
  const files = new Map([['/etc/hostname', `${pod.metadata.name}\n`]])
  for (const { name, mountPath, subPath } of findContainer(pod, container).volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((candidate) => candidate.name === name)
    const texts = {
      ...configMapTexts(lookup('configmaps', namespace, volume?.configMap?.name ?? '')),
      ...secretTexts(lookup('secrets', namespace, volume?.secret?.secretName ?? '')),
    }
    for (const [key, text] of Object.entries(texts)) {
      if (subPath === undefined) files.set(`${mountPath.replace(/\/+$/, '')}/${key}`, text)
      else if (subPath === key) files.set(mountPath, text)
    }
  }
  for (const [path, text] of Object.entries(annotatedFiles(pod))) files.set(path, String(text))
  return files
}

function annotatedFiles(pod: Pod): JsonObject {
  try {
    const value: unknown = JSON.parse(pod.metadata.annotations?.[FILES] ?? '{}')
    return isJsonObject(value) ? value : {}
  } catch {
    // An annotation that is not JSON describes no files, as any other annotation.
    return {}
  }
}

function findContainer(pod: Pod, name: string): Mounting {
  const { initContainers = [], containers } = pod.spec
  // The simulator's own type has only the fields that it acts on; these are further fields of the same API type.
  const all = [...initContainers, ...containers] as readonly Mounting[]
  return all.find((container) => container.name === name) ?? { name }
}

function configMapTexts(object: JsonObject | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(objectAt(object, 'data')).map(([key, value]) => [key, String(value)]))
}

function secretTexts(object: JsonObject | undefined): Record<string, string> {
  const data = Object.entries(objectAt(object, 'data'))
  return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]))
}
