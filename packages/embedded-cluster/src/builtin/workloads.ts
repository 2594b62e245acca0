/** Workloads: deployments, replica sets, stateful sets, daemon sets, jobs and cron jobs. */
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../json.ts'
import { invalid } from '../schema/field-error.ts'
import type { FieldError } from '../status-error.ts'
import type { KindStrategy } from './kind-strategy.ts'
import { defaultPodTemplate, ensureObject, objectsIn, setDefault } from './pod-defaults.ts'

function specOf(object: JsonObject): JsonObject {
  return ensureObject(object, 'spec')
}

/** A selector that is left out follows the template's labels, for the kinds that allow it. */
function labelsFromTemplate(object: JsonObject, spec: JsonObject): void {
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels')
  if (Object.keys(labels).length === 0) return
  const metadata = ensureObject(object, 'metadata')
  if (!isJsonObject(metadata.labels)) metadata.labels = { ...labels }
}

/** Which pods belong to a workload never changes: the old ones would belong to nobody. */
function validateSelector(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const { selector } = objectAt(object, 'spec')
  if (old === undefined || jsonEqual(selector, objectAt(old, 'spec').selector)) return []
  return [invalid('spec.selector', selector, 'field is immutable')]
}

export const deploymentStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateSelector,
  default(object) {
    const spec = specOf(object)
    setDefault(spec, 'replicas', 1)
    setDefault(spec, 'revisionHistoryLimit', 10)
    setDefault(spec, 'progressDeadlineSeconds', 600)
    const strategy = ensureObject(spec, 'strategy')
    setDefault(strategy, 'type', 'RollingUpdate')
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', '25%')
      setDefault(rolling, 'maxSurge', '25%')
    }
    defaultPodTemplate(spec.template)
  },
  prepareForCreate(object) {
    object.status = {}
  },
}

export const replicaSetStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateSelector,
  default(object) {
    const spec = specOf(object)
    setDefault(spec, 'replicas', 1)
    labelsFromTemplate(object, spec)
    defaultPodTemplate(spec.template)
  },
  prepareForCreate(object) {
    object.status = { replicas: 0 }
  },
}

export const replicationControllerStrategy: KindStrategy = {
  generation: ['spec'],
  default(object) {
    const spec = specOf(object)
    setDefault(spec, 'replicas', 1)
    const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels')
    if (!isJsonObject(spec.selector) && Object.keys(labels).length > 0) spec.selector = { ...labels }
    labelsFromTemplate(object, spec)
    defaultPodTemplate(spec.template)
  },
  prepareForCreate(object) {
    object.status = { replicas: 0 }
  },
}

export const statefulSetStrategy: KindStrategy = {
  generation: ['spec'],
  default(object) {
    const spec = specOf(object)
    setDefault(spec, 'replicas', 1)
    setDefault(spec, 'revisionHistoryLimit', 10)
    setDefault(spec, 'podManagementPolicy', 'OrderedReady')
    const strategy = ensureObject(spec, 'updateStrategy')
    setDefault(strategy, 'type', 'RollingUpdate')
    if (strategy.type === 'RollingUpdate') setDefault(ensureObject(strategy, 'rollingUpdate'), 'partition', 0)
    const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy')
    setDefault(retention, 'whenDeleted', 'Retain')
    setDefault(retention, 'whenScaled', 'Retain')
    for (const claim of objectsIn(spec, 'volumeClaimTemplates')) {
      claim.apiVersion ??= 'v1'
      claim.kind ??= 'PersistentVolumeClaim'
      const claimSpec = ensureObject(claim, 'spec')
      setDefault(claimSpec, 'volumeMode', 'Filesystem')
      claim.status ??= { phase: 'Pending' }
    }
    defaultPodTemplate(spec.template)
  },
  prepareForCreate(object) {
    object.status = { replicas: 0, availableReplicas: 0 }
  },
}

export const daemonSetStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateSelector,
  default(object) {
    const spec = specOf(object)
    setDefault(spec, 'revisionHistoryLimit', 10)
    const strategy = ensureObject(spec, 'updateStrategy')
    setDefault(strategy, 'type', 'RollingUpdate')
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureObject(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', 1)
      setDefault(rolling, 'maxSurge', 0)
    }
    defaultPodTemplate(spec.template)
  },
  prepareForCreate(object) {
    object.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
    const metadata = ensureObject(object, 'metadata')
    const annotations = isJsonObject(metadata.annotations) ? metadata.annotations : {}
    metadata.annotations = { ...annotations, 'deprecated.daemonset.template.generation': '1' }
  },
}

function defaultJobSpec(spec: JsonObject): void {
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1
    spec.parallelism = 1
  }
  setDefault(spec, 'parallelism', 1)
  setDefault(spec, 'backoffLimit', 6)
  setDefault(spec, 'completionMode', 'NonIndexed')
  setDefault(spec, 'suspend', false)
  setDefault(spec, 'podReplacementPolicy', isJsonObject(spec.podFailurePolicy) ? 'Failed' : 'TerminatingOrFailed')
  defaultPodTemplate(spec.template)
}

export const jobStrategy: KindStrategy = {
  generation: ['spec'],
  default(object) {
    defaultJobSpec(specOf(object))
  },
  prepareForCreate(object) {
    object.status = {}
    const spec = specOf(object)
    if (spec.manualSelector === true) return
    const metadata = objectAt(object, 'metadata')
    const uid = String(metadata.uid)
    const template = ensureObject(spec, 'template')
    const labels = ensureObject(ensureObject(template, 'metadata'), 'labels')
    labels['batch.kubernetes.io/controller-uid'] = uid
    labels['batch.kubernetes.io/job-name'] = String(metadata.name ?? '')
    labels['controller-uid'] = uid
    labels['job-name'] = String(metadata.name ?? '')
    const selector = ensureObject(spec, 'selector')
    selector.matchLabels = { 'batch.kubernetes.io/controller-uid': uid }
  },
}

export const cronJobStrategy: KindStrategy = {
  generation: ['spec'],
  default(object) {
    const spec = specOf(object)
    setDefault(spec, 'concurrencyPolicy', 'Allow')
    setDefault(spec, 'suspend', false)
    setDefault(spec, 'successfulJobsHistoryLimit', 3)
    setDefault(spec, 'failedJobsHistoryLimit', 1)
    if (isJsonObject(spec.jobTemplate)) {
      // Counts and limits of the jobs themselves are filled when a job is made; only the pods are filled here.
      const jobSpec = objectAt(spec.jobTemplate, 'spec')
      defaultPodTemplate(jobSpec.template)
    }
  },
  prepareForCreate(object) {
    object.status = {}
  },
}
