/** Pods: defaults, the state they start in, and the time they are given to end. */
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../json.ts'
import type { KindStrategy } from './kind-strategy.ts'
import { defaultPodOnly, defaultPodSpec, ensureObject, objectsIn } from './pod-defaults.ts'

export const podStrategy: KindStrategy = {
  generation: ['spec'],
  returnsDeletedObject: true,
  default(pod) {
    const spec = ensureObject(pod, 'spec')
    defaultPodSpec(spec)
    defaultPodOnly(spec)
  },
  prepareForCreate(pod) {
    pod.status = { phase: 'Pending', qosClass: qosClass(objectAt(pod, 'spec')) }
  },
  gracePeriodSeconds(pod, requested) {
    const spec = objectAt(pod, 'spec')
    const phase = objectAt(pod, 'status').phase
    const isScheduled = typeof spec.nodeName === 'string' && spec.nodeName !== ''
    // Nobody runs a pod without a node, and one that has ended has nothing left to stop.
    if (!isScheduled || phase === 'Succeeded' || phase === 'Failed') return 0
    const own = spec.terminationGracePeriodSeconds
    const seconds = requested ?? (typeof own === 'number' ? own : 30)
    return seconds < 0 ? 1 : seconds
  },
}

/** Guaranteed when every container's requests equal its limits, BestEffort when there are none, else Burstable. */
export function qosClass(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  let hasAny = false
  let isGuaranteed = true
  for (const container of [...objectsIn(spec, 'containers'), ...objectsIn(spec, 'initContainers')]) {
    const resources = objectAt(container, 'resources')
    const limits = objectAt(resources, 'limits')
    const requests = objectAt(resources, 'requests')
    for (const name of ['cpu', 'memory']) {
      if (limits[name] !== undefined || requests[name] !== undefined) hasAny = true
      const request = requests[name] ?? limits[name]
      if (limits[name] === undefined || String(limits[name]) !== String(request)) isGuaranteed = false
    }
  }
  if (!hasAny) return 'BestEffort'
  return isGuaranteed && arrayAt(spec, 'containers').length > 0 ? 'Guaranteed' : 'Burstable'
}

export const podTemplateStrategy: KindStrategy = {
  generation: ['template'],
  returnsDeletedObject: true,
  default(object) {
    if (isJsonObject(object.template) && isJsonObject(object.template.spec)) defaultPodSpec(object.template.spec)
  },
}
