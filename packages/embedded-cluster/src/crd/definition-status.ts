/** Computes the status of a CustomResourceDefinition. */
import { timestamp } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import { type NameDecision, writeNames } from './accepted-names.ts'
import { CLEANUP_FINALIZER } from './definition.ts'
import { APPROVAL_ANNOTATION, isEstablished, isProtectedGroup } from './validate-definition.ts'

interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const established: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}

const deletionPending: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

const deletionInProgress: Condition = {
  ...deletionPending,
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}

/**
 * The status that `crd` should have, given the decision on its names. Equal to the current one when nothing changed.
 */
export function definitionStatus(crd: JsonObject, decision: NameDecision, nowMs: number): JsonObject {
  const status = objectAt(crd, 'status')
  let conditions = arrayAt(status, 'conditions').filter(isJsonObject)
  const set = (condition: Condition) => {
    conditions = withCondition(conditions, condition, nowMs)
  }
  set(namesAccepted(decision))
  // Once established, a definition stays established: a later conflict over a short name must not make objects
  // unavailable.
  if (decision.conflict === undefined || isEstablished(crd)) set(established)
  else set({ type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' })
  const approval = approvalCondition(crd)
  if (approval !== undefined) set(approval)
  if (objectAt(crd, 'metadata').deletionTimestamp !== undefined) set(deletionInProgress)
  return { ...status, conditions, acceptedNames: writeNames(decision.accepted) }
}

/**
 * `crd` at the start of its deletion: with the timestamp, the finalizer that keeps it until its instances are deleted,
 * and the condition. Definitions have no grace period, so the generic rules do not set the timestamp.
 */
export function markForDeletion(crd: JsonObject, nowMs: number): JsonObject {
  const metadata = objectAt(crd, 'metadata')
  const finalizers = arrayAt(metadata, 'finalizers')
  if (metadata.deletionTimestamp !== undefined) return crd
  const status = objectAt(crd, 'status')
  const conditions = withCondition(arrayAt(status, 'conditions').filter(isJsonObject), deletionPending, nowMs)
  return {
    ...crd,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(nowMs),
      finalizers: [...finalizers.filter((known) => known !== CLEANUP_FINALIZER), CLEANUP_FINALIZER],
    },
    status: { ...status, conditions },
  }
}

function namesAccepted({ conflict }: NameDecision): Condition {
  if (conflict === undefined) {
    return { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  }
  return { type: 'NamesAccepted', status: 'False', ...conflict }
}

function approvalCondition(crd: JsonObject): Condition | undefined {
  if (!isProtectedGroup(stringAt(objectAt(crd, 'spec'), 'group') ?? '')) return undefined
  const approval = stringAt(objectAt(objectAt(crd, 'metadata'), 'annotations'), APPROVAL_ANNOTATION) ?? ''
  const type = 'KubernetesAPIApprovalPolicyConformant'
  if (approval.startsWith('unapproved')) {
    const message = `not approved: ${JSON.stringify(approval)}`
    return { type, status: 'False', reason: 'UnapprovedAnnotation', message }
  }
  return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${approval}` }
}

/** Replaces the condition of the same type; the timestamp changes only with the status. */
function withCondition(conditions: readonly JsonObject[], condition: Condition, nowMs: number): JsonObject[] {
  const index = conditions.findIndex((known) => known.type === condition.type)
  const known = conditions[index]
  const lastTransitionTime = known?.status === condition.status ? known.lastTransitionTime : timestamp(nowMs)
  const { type, status, reason, message } = condition
  const next: JsonObject = { ...known, type, status, lastTransitionTime, reason, message }
  if (known === undefined) return [...conditions, next]
  return jsonEqual(known, next) ? [...conditions] : conditions.toSpliced(index, 1, next)
}
