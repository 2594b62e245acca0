/** Pods: defaults, fields that the server sets, and the grace period of deletion. */

import { compareQuantities, parseQuantity } from '../api/quantity.ts'
import { ensureObject, objectsIn } from '../draft-fields.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { defaultPodOnly, defaultPodSpec, defaultPodTemplate } from './pod-defaults.ts'
import { validateNewPod, validatePodOnly, validatePodSpec, validatePodTemplate } from './validation/pod-spec.ts'
import { validatePodStatus } from './validation/pod-status.ts'
import { validatePodUpdate } from './validation/pod-update.ts'
import { Problems } from './validation/problems.ts'
import { podWarnings } from './warnings.ts'

/** The strategy of the kind Pod. */
export const podStrategy: KindStrategy = {
  generation: ['spec'],
  returnsDeletedObject: true,
  default(pod) {
    const spec = ensureObject(pod, 'spec')
    defaultPodSpec(spec)
    defaultPodOnly(spec)
  },
  defaultStatus: alignAddresses,
  prepareForCreate(pod, { clock }) {
    const spec = objectAt(pod, 'spec')
    if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1
    const status: JsonObject = { phase: 'Pending', qosClass: qosClass(spec) }
    if (arrayAt(spec, 'schedulingGates').length > 0) {
      status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          lastProbeTime: null,
          lastTransitionTime: `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ]
    }
    pod.status = status
  },
  validate(pod, old) {
    const problems = new Problems()
    const spec = objectAt(pod, 'spec')
    validatePodSpec(problems, spec, 'spec')
    validatePodOnly(problems, spec)
    if (old === undefined) validateNewPod(problems, spec)
    else validatePodUpdate(problems, spec, objectAt(old, 'spec'))
    return problems.errors
  },
  validateStatus: validatePodStatus,
  warnings: podWarnings,
  gracePeriodSeconds(pod, requested) {
    const spec = objectAt(pod, 'spec')
    const phase = objectAt(pod, 'status').phase
    const isScheduled = typeof spec.nodeName === 'string' && spec.nodeName !== ''
    // A pod without a node is not running, and a terminated pod has nothing to stop.
    if (!isScheduled || phase === 'Succeeded' || phase === 'Failed') return 0
    const own = spec.terminationGracePeriodSeconds
    const seconds = requested ?? (typeof own === 'number' ? own : 30)
    return seconds < 0 ? 1 : seconds
  },
}

/** Keeps `podIP` and `podIPs` consistent: a new address replaces the list, a list sets the address. */
function alignAddresses(status: JsonObject): void {
  const [first] = objectsIn(status, 'podIPs')
  const { podIP } = status
  if (typeof podIP === 'string' && podIP !== '' && podIP !== first?.ip) status.podIPs = [{ ip: podIP }]
  else if (first !== undefined) status.podIP = first.ip
}

/** Guaranteed when every container's requests equal its limits, BestEffort when there are none, else Burstable. */
function qosClass(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  let hasAny = false
  let isGuaranteed = true
  for (const container of [...objectsIn(spec, 'containers'), ...objectsIn(spec, 'initContainers')]) {
    const resources = objectAt(container, 'resources')
    for (const name of ['cpu', 'memory']) {
      const limit = amount(resources, 'limits', name)
      const request = amount(resources, 'requests', name)
      if (limit !== undefined || request !== undefined) hasAny = true
      if (limit === undefined || (request !== undefined && compareQuantities(limit, request) !== 0))
        isGuaranteed = false
    }
  }
  if (!hasAny) return 'BestEffort'
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** A quantity of zero counts as none. */
function amount(resources: JsonObject, field: 'limits' | 'requests', name: string) {
  const value = objectAt(resources, field)[name]
  if (typeof value !== 'string') return undefined
  const quantity = parseQuantity(value)
  return quantity.unscaled > 0n ? quantity : undefined
}

/** The strategy of the kind PodTemplate. */
export const podTemplateStrategy: KindStrategy = {
  generation: ['template'],
  returnsDeletedObject: true,
  default(object) {
    if (isJsonObject(object.template)) defaultPodTemplate(object.template)
  },
  validate(object) {
    const problems = new Problems()
    validatePodTemplate(problems, objectAt(object, 'template'), 'template')
    return problems.errors
  },
}
