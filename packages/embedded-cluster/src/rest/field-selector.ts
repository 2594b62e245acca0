/** Field selectors: a few fields per kind, compared as strings. */

import { badRequest } from '../api/api-errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'

/** One comparison of a field selector. */
export interface FieldRequirement {
  readonly field: string
  readonly value: string
  readonly negated: boolean
}

const podFields = [
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.podIPs',
  'status.nominatedNodeName',
]
const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const builtinFields: Readonly<Record<string, readonly string[]>> = {
  pods: podFields,
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  services: ['spec.clusterIP', 'spec.type'],
  replicationcontrollers: ['status.replicas'],
  'jobs.batch': ['status.successful'],
  'certificatesigningrequests.certificates.k8s.io': ['spec.signerName'],
  'resourceslices.resource.k8s.io': ['spec.driver', 'spec.nodeName'],
  events: [...involved.map((field) => `involvedObject.${field}`), 'reason', 'reportingComponent', 'source', 'type'],
  'events.events.k8s.io': [...involved.map((field) => `regarding.${field}`), 'reason', 'reportingController', 'type'],
}
/** Names of selectable fields that are stored under another path. */
const storedPaths: Readonly<Record<string, string>> = {
  'status.successful': 'status.succeeded',
  source: 'source.component',
  reportingController: 'reportingComponent',
}

/** The single name that a selector matches, `undefined` when it matches several. */
export function selectedName(selector: string): string | undefined {
  const names = splitUnescaped(selector).map((part) => /^metadata\.name==?([^=].*)$/.exec(part)?.[1])
  return names.find((name) => name !== undefined)
}

/** Parses `status.phase=Running,metadata.name!=x`; throws 400 for fields that the kind does not support. */
export function parseFieldSelector(selector: string, info: ResourceInfo): readonly FieldRequirement[] {
  const requirements: FieldRequirement[] = []
  for (const part of splitUnescaped(selector)) {
    if (part.trim() === '') continue
    const match = /^([^=!]+)(==|=|!=)(.*)$/s.exec(part)
    if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${part}'`)
    const [, field = '', sign, value = ''] = match
    requireSupported(field, info)
    requirements.push({ field, value: value.replace(/\\(.)/g, '$1'), negated: sign === '!=' })
  }
  return requirements
}

/** Whether `object`, in its storage version, matches every requirement. */
export function matchesFields(object: JsonObject, requirements: readonly FieldRequirement[]): boolean {
  return requirements.every(({ field, value, negated }) => (fieldValue(object, field) === value) !== negated)
}

/** Cluster-scoped kinds with their own selectable fields, which then do not include this one. */
const withoutNamespace = new Set([
  'namespaces',
  'nodes',
  'certificatesigningrequests.certificates.k8s.io',
  'resourceslices.resource.k8s.io',
])

function requireSupported(field: string, info: ResourceInfo): void {
  const resource = groupResource(info)
  if (field === 'metadata.name') return
  if (field === 'metadata.namespace' && !withoutNamespace.has(resource)) return
  const known = builtinFields[resource]
  if (info.custom ? info.selectableFields?.includes(`.${field}`) : known?.includes(field)) return
  throw badRequest(notSupported(field, info, info.custom || known !== undefined))
}

/** Each group has its own wording. */
function notSupported(field: string, { group, version, kind }: ResourceInfo, hasOwnFields: boolean): string {
  if (!hasOwnFields) {
    return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
  }
  if (kind === 'Job' && group === 'batch') return `field label ${JSON.stringify(field)} not supported for Job`
  if (group === 'resource.k8s.io') return `field label not supported for ${group}/${version}, Kind=${kind}: ${field}`
  return `field label not supported: ${field}`
}

function fieldValue(object: JsonObject, field: string): string {
  const path = storedPaths[field] ?? field.replace(/^regarding\./, 'involvedObject.')
  let value: JsonValue | undefined = object
  for (const segment of path.split('.')) value = isJsonObject(value) ? value[segment] : undefined
  // Events of the newer API have no source.
  if (field === 'source' && (value ?? '') === '') value = object.reportingComponent
  // A list is selectable by name only: it never equals a value.
  if (value === undefined || value === null || Array.isArray(value)) return defaultValue(field)
  return String(value)
}

/** The value of a missing field: booleans and counters compare as their zero value. */
function defaultValue(field: string): string {
  if (field === 'spec.unschedulable' || field === 'spec.hostNetwork') return 'false'
  if (field === 'status.replicas' || field === 'status.successful') return '0'
  return ''
}

function splitUnescaped(selector: string): string[] {
  const parts: string[] = []
  let current = ''
  for (let index = 0; index < selector.length; index += 1) {
    const character = selector[index] ?? ''
    if (character === '\\') {
      current += character + (selector[index + 1] ?? '')
      index += 1
    } else if (character === ',') {
      parts.push(current)
      current = ''
    } else current += character
  }
  parts.push(current)
  return parts
}
