/** Columns of nodes, namespaces, configuration, events and leases. */
import { eventToCore } from '../builtin/conversions.ts'
import { type JsonObject, objectAt, stringAt } from '../json.ts'
import { since } from './age.ts'
import {
  ageColumn,
  type Column,
  column,
  conditionStatus,
  countCell,
  nameColumn,
  objectsAt,
  textCell,
  valueAt,
  wide,
} from './column.ts'

function nodeStatus(node: JsonObject): string {
  const ready = conditionStatus(node, 'Ready')
  const words = [ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady']
  if (valueAt(node, 'spec.unschedulable') === true) words.push('SchedulingDisabled')
  return words.join(',')
}

function nodeRoles(node: JsonObject): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(objectAt(objectAt(node, 'metadata'), 'labels'))) {
    if (label.startsWith(prefix) && label.length > prefix.length) roles.add(label.slice(prefix.length))
    else if (label === 'kubernetes.io/role' && value !== '') roles.add(String(value))
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',')
}

function nodeAddress(type: string): Column['cell'] {
  return (node) => {
    const found = objectsAt(node, 'status.addresses').find((address) => address.type === type)
    return found === undefined ? '<none>' : String(found.address)
  }
}

/** Columns of Nodes. */
export const nodeColumns: readonly Column[] = [
  nameColumn,
  column('Status', nodeStatus),
  column('Roles', nodeRoles),
  ageColumn,
  column('Version', textCell('status.nodeInfo.kubeletVersion')),
  wide('Internal-IP', nodeAddress('InternalIP')),
  wide('External-IP', nodeAddress('ExternalIP')),
  wide('OS-Image', textCell('status.nodeInfo.osImage', '<unknown>')),
  wide('Kernel-Version', textCell('status.nodeInfo.kernelVersion', '<unknown>')),
  wide('Container-Runtime', textCell('status.nodeInfo.containerRuntimeVersion', '<unknown>')),
]

/** Columns of Namespaces. */
export const namespaceColumns: readonly Column[] = [nameColumn, column('Status', textCell('status.phase')), ageColumn]

/** Columns of ConfigMaps. */
export const configMapColumns: readonly Column[] = [
  nameColumn,
  column('Data', countCell('data', 'binaryData')),
  ageColumn,
]

/** Columns of Secrets. */
export const secretColumns: readonly Column[] = [
  nameColumn,
  column('Type', textCell('type')),
  column('Data', countCell('data')),
  ageColumn,
]

function firstSeen(event: JsonObject, now: number): string {
  const { firstTimestamp, eventTime } = event
  return since(typeof firstTimestamp === 'string' ? firstTimestamp : eventTime, now)
}

function lastSeen(event: JsonObject, now: number): string {
  const series = valueAt(event, 'series.lastObservedTime')
  if (typeof series === 'string') return since(series, now)
  return typeof event.lastTimestamp === 'string' ? since(event.lastTimestamp, now) : firstSeen(event, now)
}

const coreEventColumns: readonly Column[] = [
  column('Last Seen', lastSeen),
  column('Type', textCell('type')),
  column('Reason', textCell('reason')),
  column('Object', (event) => {
    const target = objectAt(event, 'involvedObject')
    return `${String(target.kind ?? '').toLowerCase()}/${String(target.name ?? '')}`
  }),
  wide('Subobject', textCell('involvedObject.fieldPath')),
  wide('Source', (event) => {
    const source = objectAt(event, 'source')
    const component = stringAt(source, 'component') ?? stringAt(event, 'reportingComponent') ?? ''
    const host = stringAt(source, 'host') ?? stringAt(event, 'reportingInstance') ?? ''
    return host === '' ? component : `${component}, ${host}`
  }),
  column('Message', (event) => (stringAt(event, 'message') ?? '').trim()),
  wide('First Seen', firstSeen),
  wide('Count', (event) => {
    const count = valueAt(event, 'series.count') ?? event.count
    return typeof count === 'number' && count > 0 ? count : 1
  }),
  { ...nameColumn, priority: 1 },
]

/** Columns of Events, in both groups that serve them. */
export const eventColumns: readonly Column[] = coreEventColumns.map((shown) => ({
  ...shown,
  cell: (event, now) => shown.cell(event.apiVersion === 'v1' ? event : eventToCore(event), now),
}))

/** Columns of Leases. */
export const leaseColumns: readonly Column[] = [
  nameColumn,
  column('Holder', textCell('spec.holderIdentity')),
  ageColumn,
]

function quota(fields: (name: string) => boolean): Column['cell'] {
  return (object) => {
    const hard = objectAt(objectAt(object, 'status'), 'hard')
    const used = objectAt(objectAt(object, 'status'), 'used')
    const entries = Object.keys(hard).filter(fields).sort()
    return entries.map((name) => `${name}: ${String(used[name] ?? '0')}/${String(hard[name])}`).join(', ')
  }
}

/** Columns of ResourceQuotas. */
export const resourceQuotaColumns: readonly Column[] = [
  nameColumn,
  column(
    'Request',
    quota((name) => !name.startsWith('limits.')),
  ),
  column(
    'Limit',
    quota((name) => name.startsWith('limits.')),
  ),
  ageColumn,
]
