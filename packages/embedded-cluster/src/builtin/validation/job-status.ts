/** The status of a Job: counters only increase, conditions and times must be consistent. */
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { notNegative } from './formats.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'

/** Validates a Job's status. */
export function validateJobStatus(object: JsonObject, old: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const status = objectAt(object, 'status')
  const before = objectAt(old, 'status')
  if (jsonEqual(status, before)) return []
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating']) {
    notNegative(problems, `status.${field}`, status[field])
  }
  validateUncounted(problems, status)
  if (count(status, 'ready') > count(status, 'active')) {
    problems.invalid('status.ready', count(status, 'ready'), 'cannot set more ready pods than active')
  }
  validateEnd(problems, status)
  validateIndexes(problems, objectAt(object, 'spec'), status)
  validateProgress(problems, object, status, before)
  return problems.errors
}

function count(status: JsonObject, field: string): number {
  return Number(status[field] ?? 0)
}

/** Every pod is counted once, as succeeded or as failed. */
function validateUncounted(problems: Problems, status: JsonObject): void {
  const { uncountedTerminatedPods: uncounted } = status
  if (!isJsonObject(uncounted)) return
  const seen = new Set<string>()
  for (const list of ['succeeded', 'failed']) {
    for (const [index, uid] of textsAt(uncounted, list).entries()) {
      const at = `status.uncountedTerminatedPods.${list}[${index}]`
      if (uid === '') problems.invalid(at, uid, 'must not be empty')
      else if (seen.has(uid)) problems.duplicate(at, uid)
      seen.add(uid)
    }
  }
}

/** Fields that a finished Job must have and an unfinished one must not have. */
function validateEnd(problems: Problems, status: JsonObject): void {
  const has = (type: string) => hasCondition(status, type)
  const isComplete = has('Complete')
  const isFailed = has('Failed')
  const isFinished = isComplete || isFailed
  const completionTime = textAt(status, 'completionTime')
  const startTime = textAt(status, 'startTime')
  const conflict = (detail: string) => problems.errors.push(conditionError(detail))
  if (isFinished && count(status, 'active') > 0) {
    problems.invalid('status.active', count(status, 'active'), 'active>0 is invalid for finished job')
  }
  if (completionTime !== '' && !isComplete) {
    const detail = 'cannot set completionTime when there is no Complete=True condition'
    problems.invalid('status.completionTime', completionTime, detail)
  }
  if (isComplete && isFailed) conflict('cannot set Complete=True and Failed=true conditions')
  if (isComplete && completionTime === '') {
    problems.required('status.completionTime', 'completionTime is required for Complete jobs')
  }
  if (completionTime !== '' && startTime !== '' && Date.parse(completionTime) < Date.parse(startTime)) {
    problems.invalid('status.completionTime', completionTime, 'must be equal to or after `startTime`')
  }
  if (isFailed && !has('FailureTarget')) {
    conflict('cannot set Failed=True condition without the FailureTarget=true condition')
  }
  if (isComplete && !has('SuccessCriteriaMet')) {
    conflict('cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
  }
  if (isFinished && startTime === '') problems.required('status.startTime', 'startTime is required for finished job')
}

/** The messages about conditions contain no value. */
function conditionError(detail: string): FieldError {
  return { field: 'status.conditions', reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` }
}

function hasCondition(status: JsonObject, type: string): boolean {
  for (const [condition] of entriesOf(status, 'conditions', '')) {
    if (condition.type === type && condition.status === 'True') return true
  }
  return false
}

/** Only an indexed Job has completed indexes. */
function validateIndexes(problems: Problems, spec: JsonObject, status: JsonObject): void {
  const completed = textAt(status, 'completedIndexes')
  const completions = Number(spec.completions ?? 0)
  const tooLarge = completed.split(/[,-]/).find((index) => index !== '' && Number(index) >= completions)
  if (tooLarge !== undefined && spec.completions !== undefined) {
    const why = `error parsing completedIndexes: too large index: ${JSON.stringify(tooLarge)}`
    problems.invalid('status.completedIndexes', completed, why)
  }
  if (completed !== '' && spec.completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    problems.invalid('status.completedIndexes', completed, why)
  }
  const { failedIndexes } = status
  if (typeof failedIndexes === 'string' && spec.backoffLimitPerIndex === undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    problems.invalid('status.failedIndexes', failedIndexes, why)
  }
}

/** Reported progress is never withdrawn. */
function validateProgress(problems: Problems, object: JsonObject, status: JsonObject, before: JsonObject): void {
  for (const field of ['failed', 'succeeded']) {
    if (count(status, field) >= count(before, field)) continue
    problems.invalid(`status.${field}`, count(status, field), `cannot decrease the ${field} counter`)
  }
  const startedAt = textAt(before, 'startTime')
  if (startedAt !== '' && startedAt !== textAt(status, 'startTime') && objectAt(object, 'spec').suspend !== true) {
    problems.required('status.startTime', 'startTime cannot be removed for unsuspended job')
  }
}
