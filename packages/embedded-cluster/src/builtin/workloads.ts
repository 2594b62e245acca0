/** Workloads that keep running: deployments, replica sets, replication controllers, stateful sets and daemon sets. */

import { ensureObject, objectsIn, setDefault, setDefaults } from '../draft-fields.ts'
import { isJsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import {
  validateDaemonSetStatus,
  validateDeploymentStatus,
  validateReplicaSetStatus,
  validateStatefulSetStatus,
} from './validation/replica-status.ts'
import {
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateReplicationController,
  validateStatefulSet,
} from './validation/workloads.ts'
import { defaultClaimSpec } from './volume-defaults.ts'
import { namedWorkloadWarnings, workloadWarnings } from './warnings.ts'

/** The strategy of the kind Deployment. */
export const deploymentStrategy: KindStrategy = {
  generation: ['spec'],
  // The controller copies them to ReplicaSets, so it has to observe their changes.
  annotationsCount: true,
  validate: validateDeployment,
  validateStatus: validateDeploymentStatus,
  warnings: namedWorkloadWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    const strategy = ensureObject(spec, 'strategy')
    setDefault(strategy, 'type', 'RollingUpdate')
    if (strategy.type === 'RollingUpdate') {
      setDefaults(ensureObject(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' })
    }
    defaultPodTemplate(spec.template)
  },
}

/** The strategy of the kind ReplicaSet. */
export const replicaSetStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateReplicaSet,
  validateStatus: validateReplicaSetStatus,
  warnings: namedWorkloadWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefault(spec, 'replicas', 1)
    defaultPodTemplate(spec.template)
  },
}

/** The strategy of the kind ReplicationController. */
export const replicationControllerStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateReplicationController,
  validateStatus: validateReplicaSetStatus,
  warnings: namedWorkloadWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefault(spec, 'replicas', 1)
    const { labels } = objectAt(objectAt(spec, 'template'), 'metadata')
    if (isJsonObject(labels)) {
      spec.selector ??= { ...labels }
      ensureObject(object, 'metadata').labels ??= { ...labels }
    }
    defaultPodTemplate(spec.template)
  },
}

/** The strategy of the kind StatefulSet. */
export const statefulSetStrategy: KindStrategy = {
  generation: ['spec'],
  names: 'label',
  validate: validateStatefulSet,
  validateStatus: validateStatefulSetStatus,
  warnings: workloadWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: 'OrderedReady' })
    const strategy = ensureObject(spec, 'updateStrategy')
    if ((strategy.type ?? '') === '') {
      strategy.type = 'RollingUpdate'
      ensureObject(strategy, 'rollingUpdate')
    }
    if (strategy.type === 'RollingUpdate' && isJsonObject(strategy.rollingUpdate)) {
      setDefault(strategy.rollingUpdate, 'partition', 0)
    }
    const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy')
    setDefaults(retention, { whenDeleted: 'Retain', whenScaled: 'Retain' })
    for (const claim of objectsIn(spec, 'volumeClaimTemplates')) {
      setDefaults(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' })
      defaultClaimSpec(ensureObject(claim, 'spec'))
      setDefault(ensureObject(claim, 'status'), 'phase', 'Pending')
    }
    defaultPodTemplate(spec.template)
  },
}

const templateGeneration = 'deprecated.daemonset.template.generation'

/** The strategy of the kind DaemonSet. */
export const daemonSetStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateDaemonSet,
  validateStatus: validateDaemonSetStatus,
  warnings: workloadWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefault(spec, 'revisionHistoryLimit', 10)
    const strategy = ensureObject(spec, 'updateStrategy')
    setDefault(strategy, 'type', 'RollingUpdate')
    if (strategy.type === 'RollingUpdate') {
      setDefaults(ensureObject(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 })
    }
    setDefault(ensureObject(ensureObject(object, 'metadata'), 'annotations'), templateGeneration, '0')
    defaultPodTemplate(spec.template)
  },
  prepareForCreate(object) {
    ensureObject(ensureObject(object, 'metadata'), 'annotations')[templateGeneration] = '1'
  },
  prepareForUpdate(object, old) {
    // Counts changes of the template, for clients older than metadata.generation.
    const before = Number(stringAt(objectAt(objectAt(old, 'metadata'), 'annotations'), templateGeneration) ?? 0)
    const isChanged = !jsonEqual(objectAt(object, 'spec').template, objectAt(old, 'spec').template)
    const annotations = ensureObject(ensureObject(object, 'metadata'), 'annotations')
    annotations[templateGeneration] = String(before + (isChanged ? 1 : 0))
  },
}
