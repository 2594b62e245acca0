/** Kinds that govern others: RBAC, webhooks, disruption budgets, autoscalers, ingresses, slices, classes. */
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { KindStrategy } from './kind-strategy.ts'
import { ensureObject, objectsIn, setDefault } from './pod-defaults.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

export const roleStrategy: KindStrategy = { names: 'path-segment', createOnUpdate: true }

export const roleBindingStrategy: KindStrategy = {
  names: 'path-segment',
  createOnUpdate: true,
  default(object) {
    setDefault(ensureObject(object, 'roleRef'), 'apiGroup', rbacGroup)
    for (const subject of objectsIn(object, 'subjects')) {
      if (subject.kind === 'User' || subject.kind === 'Group') setDefault(subject, 'apiGroup', rbacGroup)
    }
  },
  validate(object, old): readonly FieldError[] {
    if (old === undefined || jsonEqual(object.roleRef, old.roleRef)) return []
    const message = `Invalid value: ${JSON.stringify(object.roleRef)}: cannot change roleRef`
    return [{ field: 'roleRef', reason: 'FieldValueInvalid', message }]
  },
}

function defaultWebhook(webhook: JsonObject): void {
  setDefault(webhook, 'failurePolicy', 'Fail')
  setDefault(webhook, 'matchPolicy', 'Equivalent')
  setDefault(webhook, 'timeoutSeconds', 10)
  webhook.namespaceSelector ??= {}
  webhook.objectSelector ??= {}
  for (const rule of objectsIn(webhook, 'rules')) setDefault(rule, 'scope', '*')
  const service = objectAt(webhook, 'clientConfig').service
  if (isJsonObject(service)) setDefault(service, 'port', 443)
}

export const mutatingWebhookStrategy: KindStrategy = {
  generation: ['webhooks'],
  default(object) {
    for (const webhook of objectsIn(object, 'webhooks')) {
      defaultWebhook(webhook)
      setDefault(webhook, 'reinvocationPolicy', 'Never')
    }
  },
}

export const validatingWebhookStrategy: KindStrategy = {
  generation: ['webhooks'],
  default(object) {
    for (const webhook of objectsIn(object, 'webhooks')) defaultWebhook(webhook)
  },
}

export const disruptionBudgetStrategy: KindStrategy = {
  generation: ['spec'],
  prepareForCreate(object) {
    object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  },
}

export const autoscalerStrategy: KindStrategy = {
  default(object) {
    setDefault(ensureObject(object, 'spec'), 'minReplicas', 1)
  },
  prepareForCreate(object) {
    object.status = { desiredReplicas: 0, currentMetrics: null }
  },
}

export const ingressStrategy: KindStrategy = {
  generation: ['spec'],
  prepareForCreate(object) {
    object.status = { loadBalancer: {} }
  },
}

export const networkPolicyStrategy: KindStrategy = {
  generation: ['spec'],
  default(object) {
    const spec = ensureObject(object, 'spec')
    for (const field of ['ingress', 'egress']) {
      for (const rule of objectsIn(spec, field)) {
        for (const port of objectsIn(rule, 'ports')) setDefault(port, 'protocol', 'TCP')
      }
    }
    if (spec.policyTypes === undefined) {
      spec.policyTypes = isJsonObject(spec.egress) || Array.isArray(spec.egress) ? ['Ingress', 'Egress'] : ['Ingress']
    }
  },
}

export const endpointSliceStrategy: KindStrategy = {
  generation: ['endpoints', 'ports', 'addressType'],
  default(object) {
    for (const port of objectsIn(object, 'ports')) {
      port.name ??= ''
      setDefault(port, 'protocol', 'TCP')
    }
  },
}

export const storageClassStrategy: KindStrategy = {
  returnsDeletedObject: true,
  default(object) {
    setDefault(object, 'reclaimPolicy', 'Delete')
    setDefault(object, 'volumeBindingMode', 'Immediate')
  },
}

export const csiDriverStrategy: KindStrategy = {
  returnsDeletedObject: true,
  default(object) {
    const spec = ensureObject(object, 'spec')
    spec.attachRequired ??= true
    spec.podInfoOnMount ??= false
    spec.storageCapacity ??= false
    setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType')
    spec.volumeLifecycleModes ??= ['Persistent']
    spec.requiresRepublish ??= false
    spec.seLinuxMount ??= false
  },
}

export const priorityClassStrategy: KindStrategy = {
  generation: ['value', 'globalDefault', 'description', 'preemptionPolicy'],
  default(object) {
    setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority')
  },
}
