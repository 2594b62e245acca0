/** Jobs and cron jobs. */

import { ensureObject, objectsIn, setDefaults } from '../draft-fields.ts'
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validateJobStatus } from './validation/job-status.ts'
import { validateCronJob, validateJob } from './validation/jobs.ts'
import { cronJobWarnings, namedWorkloadWarnings } from './warnings.ts'

const MAX_INT32 = 2_147_483_647

/** The strategy of the kind Job. */
export const jobStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateJob,
  validateStatus: validateJobStatus,
  warnings: namedWorkloadWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    if (spec.parallelism === undefined) spec.completions ??= 1
    setDefaults(spec, {
      parallelism: 1,
      backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: isJsonObject(spec.podFailurePolicy) ? 'Failed' : 'TerminatingOrFailed',
      manualSelector: false,
    })
    const { labels } = objectAt(objectAt(spec, 'template'), 'metadata')
    if (isJsonObject(labels)) ensureObject(object, 'metadata').labels ??= { ...labels }
    defaultJobParts(spec)
  },
  prepareForCreate(object) {
    const spec = ensureObject(object, 'spec')
    if (spec.manualSelector !== true) selectByUid(object, spec)
  },
}

/** Defaults that also apply to the job template of a cron job; its counts are set when a job is created. */
function defaultJobParts(spec: JsonObject): void {
  for (const rule of objectsIn(objectAt(spec, 'podFailurePolicy'), 'rules')) {
    for (const condition of objectsIn(rule, 'onPodConditions')) setDefaults(condition, { status: 'True' })
  }
  defaultPodTemplate(spec.template)
}

/** The pods of a job have its uid as a label, so that pods of other jobs are never adopted. */
function selectByUid(object: JsonObject, spec: JsonObject): void {
  const metadata = ensureObject(object, 'metadata')
  const uid = String(metadata.uid)
  const name = String(metadata.name ?? '')
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels')
  // The labels of a job default to those of its template; while both are equal, both get the added labels.
  const isShared = jsonEqual(objectAt(metadata, 'labels'), labels)
  const added = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  Object.assign(labels, added)
  if (isShared) metadata.labels = { ...labels }
  const selector = ensureObject(spec, 'selector')
  ensureObject(selector, 'matchLabels')['batch.kubernetes.io/controller-uid'] = uid
}

/** The strategy of the kind CronJob. */
export const cronJobStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateCronJob,
  warnings: cronJobWarnings,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefaults(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    })
    defaultJobParts(objectAt(objectAt(spec, 'jobTemplate'), 'spec'))
  },
}
