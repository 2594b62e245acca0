/** What may differ between two good runs of the operator: secrets that were recreated, and what follows from them. */
import type { PlainObject } from '@reeve/simulation'
import { LOG_RULE_CONDITION } from '../src/controllers/dynakube/components/settings/log-rule.ts'
import { ANNOTATIONS } from '../src/controllers/rendering/annotations.ts'
import { decodeSecret } from '../src/controllers/rendering/secret-data.ts'

/** Secrets with tokens and ids that the tenant generates on every request. */
const ISSUED = /-(activegate-authtoken-secret|client)$/

/** The same inside a configuration file. */
const ISSUED_LINES = /\b(client_id|client_secret): (\S+?)(?=\\n|")/g

/** Annotations that change with those Secrets or with addresses of Services. */
const FOLLOWING = [ANNOTATIONS.templateHash, ANNOTATIONS.activeGateConfiguration, ANNOTATIONS.edgeConnectSecret]

const WORKLOADS = new Set(['daemonsets.apps', 'statefulsets.apps', 'deployments.apps'])

const ADDRESS = /\b10\.\d+\.\d+\.\d+\b/g
const TOKEN = /\bdt0g02\.[A-Z2-7]+/g
const POD = /"podName":"[^"]+"/g
/** Named after the template, annotations included. */
const REPLICA_SET = /\bReplicaSet [\w.-]+/g

/**
 * Takes it out of an object, for `normalise` of the exploration. Data of Secrets is decoded, so that a difference can
 * be read.
 */
export function withoutChance(resource: string, object: PlainObject): PlainObject {
  const { metadata } = object as { readonly metadata: { readonly name: string } }
  if (resource === 'secrets') return withReadableData(object, ISSUED.test(metadata.name))
  if (WORKLOADS.has(resource)) return masked(withoutFollowing(withoutRevision(object)))
  if (resource === 'namespaces') return withoutMarker(object)
  if (resource === 'edgeconnects.dynatrace.com') return withoutLastChange(object)
  return resource === 'dynakubes.dynatrace.com' ? masked(withoutAuthor(withoutLastChange(object))) : object
}

/** When the status changed last: an error that is over changes it twice, a restart may skip a state in between. */
function withoutLastChange(object: PlainObject): PlainObject {
  const { status } = object as { readonly status?: PlainObject }
  if (status === undefined) return object
  const { updatedTimestamp, ...others } = status
  return { ...object, status: { ...others, ...(updatedTimestamp !== undefined && { updatedTimestamp: '<time>' }) } }
}

/** Signals to the webhook, which is not part of the exploration and would remove it, that the operator wrote last. */
const MARKER = 'dynatrace.com/updated-via-operator'

function withoutMarker(object: PlainObject): PlainObject {
  const { metadata } = object as { readonly metadata: { readonly annotations?: PlainObject } }
  const { [MARKER]: _, ...annotations } = metadata.annotations ?? {}
  const { annotations: __, ...others } = metadata
  return { ...object, metadata: { ...others, ...(Object.keys(annotations).length > 0 && { annotations }) } }
}

/** Conditions by their types: their order is that in which they came. */
const byType = (one: PlainObject, other: PlainObject) => String(one.type).localeCompare(String(other.type))

/** Who made the rule for logs depends on when an operator died: the next one finds it there. */
function withoutAuthor(object: PlainObject): PlainObject {
  const { status } = object as { readonly status?: { readonly conditions?: readonly PlainObject[] } }
  const conditions = status?.conditions?.map((condition) => {
    const isTrueRule = condition.type === LOG_RULE_CONDITION && condition.status === 'True'
    return isTrueRule ? { ...condition, reason: 'There', message: '' } : condition
  })
  conditions?.sort(byType)
  return { ...object, ...(status && { status: { ...status, ...(conditions && { conditions }) } }) }
}

function withReadableData(object: PlainObject, isIssued: boolean): PlainObject {
  const { metadata, data = {} } = object as { metadata: PlainObject; data?: Readonly<Record<string, string>> }
  const readable = isIssued ? Object.keys(data) : decodeSecret(data)
  return masked({ ...withoutFollowing({ ...object, metadata }), data: readable })
}

/** A revision is named after the template; that the newest one is in use counts. */
function withoutRevision(object: PlainObject): PlainObject {
  const { status } = object as {
    readonly status?: { readonly currentRevision?: string; readonly updateRevision?: string }
  }
  if (status?.updateRevision === undefined) return object
  const { currentRevision, updateRevision, ...rest } = status
  return { ...object, status: { ...rest, isNewest: currentRevision === updateRevision } }
}

/** How often the template of a DaemonSet was changed. */
const HISTORY = 'deprecated.daemonset.template.generation'

function withoutFollowing(value: PlainObject): PlainObject {
  const text = JSON.stringify(value, (key, entry) => {
    if (key === HISTORY) return undefined
    return FOLLOWING.some((name) => name === key) ? '<hash>' : entry
  })
  return JSON.parse(text) as PlainObject
}

function masked(value: PlainObject): PlainObject {
  const text = JSON.stringify(value)
  const plain = text
    .replace(ADDRESS, '<address>')
    .replace(TOKEN, '<token>')
    .replace(ISSUED_LINES, '$1: <issued>')
    .replace(POD, '"podName":"<name>"')
    .replace(REPLICA_SET, 'ReplicaSet <name>')
  return JSON.parse(plain) as PlainObject
}
