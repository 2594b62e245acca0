/** Which pods and containers injection ignores. Pure. */
import type { Container } from '@reeve/kube'
import { parseBoolean } from '../../api/annotation-values.ts'
import type { DynaKube } from '../../api/latest.ts'
import { CONTAINER_PREFIX, MIRROR_POD, OPENSHIFT_DEBUG, POD_SETTINGS } from './annotations.ts'
import type { InjectablePod, InjectionInput } from './injection-input.ts'
import { annotationOf, no, type Verdict } from './verdict.ts'

/** Why a pod is ignored; `undefined` if it is not. */
export function ineligibility({ pod, dynakube }: InjectionInput): Verdict | undefined {
  const { annotations = {} } = pod.metadata
  const { inject } = POD_SETTINGS
  if (parseBoolean(annotations[inject]) === false) {
    return no(`the annotation ${inject} is "${annotations[inject]}"`, annotationOf('Pod', inject))
  }
  if (OPENSHIFT_DEBUG.every((key) => annotations[key] !== undefined)) {
    return no('the pod is a debug copy created by OpenShift', annotationOf('Pod', OPENSHIFT_DEBUG[0]))
  }
  // The API server rejects mirror pods that refer to Secrets, and Windows pods with Linux security settings.
  if (annotations[MIRROR_POD] !== undefined) {
    return no('the pod is a static pod, which cannot use Secrets', annotationOf('Pod', MIRROR_POD))
  }
  if (pod.spec.os?.name === 'windows') return no('the pod runs on Windows', 'Pod spec.os.name')
  const [first] = pod.spec.containers.map((container) => exclusion(container, pod, dynakube))
  const isExcluded = pod.spec.containers.every((container) => exclusion(container, pod, dynakube) !== undefined)
  if (!isExcluded) return undefined
  return no('all containers are excluded', first?.decidedBy ?? 'Pod spec.containers')
}

/**
 * Why a container is ignored; `undefined` if it is not. Either place excludes: a pod cannot include what the DynaKube
 * excludes.
 */
export function exclusion({ name }: Container, pod: InjectablePod, dynakube: DynaKube): Verdict | undefined {
  const places = [
    ['DynaKube', dynakube.metadata.annotations],
    ['Pod', pod.metadata.annotations],
  ] as const
  for (const [kind, annotations = {}] of places) {
    for (const [key, value] of Object.entries(annotations)) {
      if (value !== 'false' || !key.startsWith(CONTAINER_PREFIX)) continue
      const slash = key.indexOf('/')
      if (slash < 0 || key.slice(slash + 1) !== name) continue
      return no(`the annotation ${key} of the ${kind} is "false"`, annotationOf(kind, key))
    }
  }
  return undefined
}
