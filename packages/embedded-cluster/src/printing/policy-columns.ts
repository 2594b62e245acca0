/** Columns of access control, webhooks, disruption budgets, autoscalers, priorities and definitions. */
import { type JsonObject, objectAt } from '../json.ts'
import {
  ageColumn,
  booleanCell,
  type Column,
  column,
  countCell,
  integerColumn,
  nameColumn,
  numberCell,
  objectsAt,
  textCell,
  valueAt,
  wide,
} from './column.ts'

/** The creation timestamp, as an absolute time. */
const createdAt = column('Created At', (object) => String(objectAt(object, 'metadata').creationTimestamp ?? ''), {
  type: 'date',
})

/** Columns of Roles, ClusterRoles and CustomResourceDefinitions. */
export const createdAtColumns: readonly Column[] = [nameColumn, createdAt]

function subjects(kind: string): Column['cell'] {
  return (object) =>
    objectsAt(object, 'subjects')
      .filter((subject) => subject.kind === kind)
      .map((subject) =>
        kind === 'ServiceAccount' ? `${String(subject.namespace)}/${String(subject.name)}` : String(subject.name),
      )
      .join(', ')
}

/** Columns of RoleBindings and ClusterRoleBindings. */
export const bindingColumns: readonly Column[] = [
  nameColumn,
  column('Role', (object) => `${String(valueAt(object, 'roleRef.kind'))}/${String(valueAt(object, 'roleRef.name'))}`),
  ageColumn,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
]

/** Columns of webhook configurations. */
export const webhookColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Webhooks', countCell('webhooks')),
  ageColumn,
]

/** Columns of PodDisruptionBudgets. */
export const disruptionBudgetColumns: readonly Column[] = [
  nameColumn,
  column('Min Available', textCell('spec.minAvailable', 'N/A')),
  column('Max Unavailable', textCell('spec.maxUnavailable', 'N/A')),
  integerColumn('Allowed Disruptions', numberCell('status.disruptionsAllowed')),
  ageColumn,
]

function targets(object: JsonObject): string {
  const metrics = objectsAt(object, 'spec.metrics')
  if (metrics.length === 0) return '<none>'
  const current = objectsAt(object, 'status.currentMetrics')
  const shown = metrics.slice(0, 2).map((metric, index) => {
    if (metric.type !== 'Resource') return '<unknown>/<unknown>'
    const name = String(valueAt(metric, 'resource.name'))
    const wanted = valueAt(metric, 'resource.target.averageUtilization')
    const actual = valueAt(current[index] ?? {}, 'resource.current.averageUtilization')
    if (typeof wanted !== 'number')
      return `${name}: <unknown>/${String(valueAt(metric, 'resource.target.averageValue') ?? '<auto>')}`
    return `${name}: ${typeof actual === 'number' ? `${actual}%` : '<unknown>'}/${wanted}%`
  })
  return metrics.length > 2 ? `${shown.join(', ')} + ${metrics.length - 2} more...` : shown.join(', ')
}

/** Columns of HorizontalPodAutoscalers. */
export const autoscalerColumns: readonly Column[] = [
  nameColumn,
  column('Reference', (object) => {
    const target = objectAt(objectAt(object, 'spec'), 'scaleTargetRef')
    return `${String(target.kind)}/${String(target.name)}`
  }),
  column('Targets', targets),
  column('MinPods', textCell('spec.minReplicas', '<unset>')),
  column('MaxPods', numberCell('spec.maxReplicas')),
  column('Replicas', numberCell('status.currentReplicas')),
  ageColumn,
]

/** Columns of PriorityClasses. */
export const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Value', numberCell('value')),
  column('Global-Default', booleanCell('globalDefault'), { type: 'boolean' }),
  ageColumn,
  column('PreemptionPolicy', textCell('preemptionPolicy')),
]

/** Columns of RuntimeClasses. */
export const runtimeClassColumns: readonly Column[] = [nameColumn, column('Handler', textCell('handler')), ageColumn]

/** Columns of CertificateSigningRequests. */
export const signingRequestColumns: readonly Column[] = [
  nameColumn,
  ageColumn,
  column('SignerName', textCell('spec.signerName', '<none>')),
  column('Requestor', textCell('spec.username', '<none>')),
  column('RequestedDuration', textCell('spec.expirationSeconds', '<none>')),
  column('Condition', (object) => {
    const types = objectsAt(object, 'status.conditions').map((condition) => String(condition.type))
    if (valueAt(object, 'status.certificate') !== undefined) types.push('Issued')
    return types.length === 0 ? 'Pending' : types.join(',')
  }),
]
