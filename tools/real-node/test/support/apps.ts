/** Pods of a user, in namespaces that DynaKubes monitor. */
import { readFile } from 'node:fs/promises'
import { eventually, SHELL_IMAGE } from '@reeve/real-node'
import { admitted, apply, get, type Json, kubectl, podReady } from './kubectl.ts'

/** The namespace of the pods, unless a suite has several. */
export const APPS = 'apps'

/** Where code modules are in a pod. */
export const INSTALL_PATH = '/opt/dynatrace/oneagent-paas'

/** A pod that sleeps. */
export function app(name: string, annotations: Readonly<Record<string, string>> = {}, namespace = APPS): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, annotations },
    spec: {
      containers: [{ name: 'app', image: SHELL_IMAGE, command: ['sleep', '100000'] }],
      terminationGracePeriodSeconds: 1,
    },
  }
}

/** Creates a pod and waits until it is ready. */
export async function startApp(
  name: string,
  annotations?: Readonly<Record<string, string>>,
  namespace = APPS,
): Promise<Json> {
  await apply(app(name, annotations, namespace))
  return podReady(namespace, name)
}

/** Deletes a pod and waits until its volumes are unmounted. */
export async function deleteApp(pod: Json): Promise<void> {
  const { name, namespace } = pod.metadata
  await kubectl('delete', 'pod', name, '--namespace', namespace, '--timeout', '280s')
  await eventually('its volumes are unmounted', async () => (await mountsOf(pod)).length === 0)
}

/**
 * Waits until pods of a namespace are injected for a DynaKube. The namespace is mapped before the status of the DynaKube has
 * everything that the webhook needs; a pod that is created in between stays without an agent.
 */
export async function mapped(dynakube: string, namespace = APPS): Promise<void> {
  await eventually(`the namespace is mapped to ${dynakube}`, async () => {
    const object = await get('namespace', '', namespace)
    return object?.metadata.labels['dynakube.internal.dynatrace.com/instance'] === dynakube
  })
  await eventually(`pods are injected for ${dynakube}`, async () => {
    const { metadata } = await admitted(app('probe', {}, namespace))
    const outcomes = Object.entries(metadata.annotations ?? {}).filter(([key]) =>
      key.endsWith('dynatrace.com/injected'),
    )
    return outcomes.length > 0 && outcomes.every(([, injected]) => injected === 'true')
  })
}

/** Mounts of the node for a pod. */
export async function mountsOf(pod: Json): Promise<readonly string[]> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n')
  return mounts.filter((line) => line.includes(pod.metadata.uid))
}

/** Names of the init containers of a pod. */
export function initContainers(pod: Json): readonly string[] {
  return (pod.spec.initContainers ?? []).map((each: Json) => each.name)
}
