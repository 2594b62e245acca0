/** RBAC, webhooks, admission policies, disruption budgets, autoscalers and priorities. */

import { ensureObject, objectsIn, setDefault, setDefaults, withObject } from '../draft-fields.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { validateAdmissionPolicy, validateAdmissionPolicyBinding } from './validation/admission-policies.ts'
import { validateAutoscaler } from './validation/autoscalers.ts'
import { validateDisruptionBudget, validatePriorityClass, validateRuntimeClass } from './validation/policies.ts'
import { validateRole, validateRoleBinding } from './validation/rbac.ts'
import { validateAutoscalerStatus, validateDisruptionBudgetStatus } from './validation/replica-status.ts'
import { validateWebhooks } from './validation/webhooks.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/** The strategy of the kinds Role and ClusterRole. */
export const roleStrategy: KindStrategy = { names: 'path-segment', createOnUpdate: true, validate: validateRole }

/** The strategy of the kinds RoleBinding and ClusterRoleBinding. */
export const roleBindingStrategy: KindStrategy = {
  names: 'path-segment',
  createOnUpdate: true,
  default(object) {
    setDefault(ensureObject(object, 'roleRef'), 'apiGroup', rbacGroup)
    for (const subject of objectsIn(object, 'subjects')) {
      if (subject.kind === 'User' || subject.kind === 'Group') setDefault(subject, 'apiGroup', rbacGroup)
    }
  },
  validate: validateRoleBinding,
}

function defaultWebhook(webhook: JsonObject): void {
  setDefaults(webhook, { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 })
  ensureObject(webhook, 'namespaceSelector')
  ensureObject(webhook, 'objectSelector')
  for (const rule of objectsIn(webhook, 'rules')) setDefault(rule, 'scope', '*')
  withObject(objectAt(webhook, 'clientConfig'), 'service', (service) => setDefault(service, 'port', 443))
}

/** The strategy of the kind MutatingWebhookConfiguration. */
export const mutatingWebhookStrategy: KindStrategy = {
  generation: ['webhooks'],
  validate: validateWebhooks,
  default(object) {
    for (const webhook of objectsIn(object, 'webhooks')) {
      defaultWebhook(webhook)
      setDefault(webhook, 'reinvocationPolicy', 'Never')
    }
  },
}

/** The strategy of the kind ValidatingWebhookConfiguration. */
export const validatingWebhookStrategy: KindStrategy = {
  generation: ['webhooks'],
  validate: validateWebhooks,
  default(object) {
    for (const webhook of objectsIn(object, 'webhooks')) defaultWebhook(webhook)
  },
}

function defaultConstraints(constraints: JsonObject): void {
  setDefault(constraints, 'matchPolicy', 'Equivalent')
  ensureObject(constraints, 'namespaceSelector')
  ensureObject(constraints, 'objectSelector')
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const rule of objectsIn(constraints, list)) setDefault(rule, 'scope', '*')
  }
}

/** The strategy of the kind ValidatingAdmissionPolicy. */
export const admissionPolicyStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateAdmissionPolicy,
  default(object) {
    withObject(object, 'spec', (spec) => {
      setDefault(spec, 'failurePolicy', 'Fail')
      withObject(spec, 'matchConstraints', defaultConstraints)
    })
  },
}

/** The strategy of the kind ValidatingAdmissionPolicyBinding. */
export const admissionPolicyBindingStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateAdmissionPolicyBinding,
  default(object) {
    withObject(object, 'spec', (spec) => withObject(spec, 'matchResources', defaultConstraints))
  },
}

/** The strategy of the kind PodDisruptionBudget. */
export const disruptionBudgetStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateDisruptionBudget,
  validateStatus: validateDisruptionBudgetStatus,
}

const scaleUp: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const scaleDown: JsonObject = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

/** The strategy of the kind HorizontalPodAutoscaler, in both versions. */
export const autoscalerStrategy: KindStrategy = {
  validate: validateAutoscaler,
  validateStatus: validateAutoscalerStatus,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefault(spec, 'minReplicas', 1)
    if (object.apiVersion === 'autoscaling/v1') {
      setDefault(spec, 'targetCPUUtilizationPercentage', 80)
      return
    }
    const target = { type: 'Utilization', averageUtilization: 80 }
    setDefault(spec, 'metrics', [{ type: 'Resource', resource: { name: 'cpu', target } }])
    if (!isJsonObject(spec.behavior)) return
    spec.behavior.scaleUp = { ...structuredClone(scaleUp), ...objectAt(spec.behavior, 'scaleUp') }
    spec.behavior.scaleDown = { ...structuredClone(scaleDown), ...objectAt(spec.behavior, 'scaleDown') }
  },
}

/** The strategy of the kind PriorityClass. */
export const priorityClassStrategy: KindStrategy = {
  generation: ['value', 'globalDefault', 'description', 'preemptionPolicy'],
  validate: validatePriorityClass,
  default(object) {
    setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority')
  },
}

/** The strategy of the kind RuntimeClass. */
export const runtimeClassStrategy: KindStrategy = { validate: validateRuntimeClass }
