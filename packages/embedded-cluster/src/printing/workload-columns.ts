/** Columns of workloads: desired and actual replicas. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { humanDuration, since } from './age.ts'
import {
  ageColumn,
  type Column,
  column,
  conditionStatus,
  countCell,
  integerColumn,
  labelsCell,
  nameColumn,
  numberCell,
  selectorCell,
  templateColumns,
  textCell,
  valueAt,
  wide,
} from './column.ts'

function ratio(ready: string, wanted: string): Column['cell'] {
  return (object) => `${numberCell(ready)(object, 0)}/${numberCell(wanted)(object, 0)}`
}

const selector = wide('Selector', selectorCell('spec.selector'))

/** Columns of Deployments. */
export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ratio('status.readyReplicas', 'spec.replicas')),
  column('Up-to-date', numberCell('status.updatedReplicas')),
  column('Available', numberCell('status.availableReplicas')),
  ageColumn,
  ...templateColumns('spec.template'),
  selector,
]

/** Columns of ReplicaSets. */
export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', numberCell('spec.replicas')),
  integerColumn('Current', numberCell('status.replicas')),
  integerColumn('Ready', numberCell('status.readyReplicas')),
  ageColumn,
  ...templateColumns('spec.template'),
  selector,
]

/** Columns of ReplicationControllers, whose selector is a plain map. */
export const replicationControllerColumns: readonly Column[] = [
  ...replicaSetColumns.slice(0, -1),
  wide('Selector', labelsCell('spec.selector')),
]

/** Columns of PodTemplates. */
export const podTemplateColumns: readonly Column[] = [
  nameColumn,
  ...templateColumns('template').map((shown) => ({ ...shown, priority: 0 })),
  column('Pod Labels', labelsCell('template.metadata.labels')),
]

/** Columns of StatefulSets. */
export const statefulSetColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ratio('status.readyReplicas', 'spec.replicas')),
  ageColumn,
  ...templateColumns('spec.template'),
]

/** Columns of DaemonSets. */
export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', numberCell('status.desiredNumberScheduled')),
  integerColumn('Current', numberCell('status.currentNumberScheduled')),
  integerColumn('Ready', numberCell('status.numberReady')),
  integerColumn('Up-to-date', numberCell('status.updatedNumberScheduled')),
  integerColumn('Available', numberCell('status.numberAvailable')),
  column('Node Selector', labelsCell('spec.template.spec.nodeSelector')),
  ageColumn,
  ...templateColumns('spec.template'),
  selector,
]

function jobStatus(job: JsonObject): string {
  if (conditionStatus(job, 'Complete') === 'True') return 'Complete'
  if (conditionStatus(job, 'Failed') === 'True') return 'Failed'
  if (objectAt(job, 'metadata').deletionTimestamp !== undefined) return 'Terminating'
  if (conditionStatus(job, 'Suspended') === 'True') return 'Suspended'
  if (conditionStatus(job, 'FailureTarget') === 'True') return 'FailureTarget'
  if (conditionStatus(job, 'SuccessCriteriaMet') === 'True') return 'SuccessCriteriaMet'
  return 'Running'
}

function jobCompletions(job: JsonObject): string {
  const succeeded = numberCell('status.succeeded')(job, 0)
  const completions = valueAt(job, 'spec.completions')
  if (typeof completions === 'number') return `${succeeded}/${completions}`
  const parallelism = valueAt(job, 'spec.parallelism')
  return typeof parallelism === 'number' && parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: JsonObject, now: number): string {
  const started = stringAt(objectAt(job, 'status'), 'startTime')
  if (started === undefined) return ''
  const completed = stringAt(objectAt(job, 'status'), 'completionTime')
  return completed === undefined ? since(started, now) : humanDuration(Date.parse(completed) - Date.parse(started))
}

/** Columns of Jobs. */
export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', jobStatus),
  column('Completions', jobCompletions),
  column('Duration', jobDuration),
  ageColumn,
  ...templateColumns('spec.template'),
  selector,
]

/** Columns of CronJobs. */
export const cronJobColumns: readonly Column[] = [
  nameColumn,
  column('Schedule', textCell('spec.schedule')),
  column('Timezone', textCell('spec.timeZone', '<none>')),
  column('Suspend', (object) => (valueAt(object, 'spec.suspend') === true ? 'True' : 'False'), { type: 'boolean' }),
  integerColumn('Active', countCell('status.active')),
  column('Last Schedule', (object, now) => {
    const last = valueAt(object, 'status.lastScheduleTime')
    return typeof last === 'string' ? since(last, now) : '<none>'
  }),
  ageColumn,
  ...templateColumns('spec.jobTemplate.spec.template'),
  wide('Selector', selectorCell('spec.jobTemplate.spec.selector')),
]

/** Columns of ControllerRevisions. */
export const controllerRevisionColumns: readonly Column[] = [
  nameColumn,
  column('Controller', (object) => {
    const owners = objectAt(object, 'metadata').ownerReferences
    const owner = Array.isArray(owners)
      ? owners.find((entry) => isJsonObject(entry) && entry.controller === true)
      : undefined
    if (typeof owner !== 'object' || owner === null || Array.isArray(owner)) return '<none>'
    const [group = ''] = String(owner.apiVersion).split('/')
    return `${String(owner.kind).toLowerCase()}.${group}/${String(owner.name)}`
  }),
  column('Revision', numberCell('revision')),
  ageColumn,
]
