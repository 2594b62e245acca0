/** Jobs and cron jobs. */
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { cronProblem } from './cron-syntax.ts'
import { IMMUTABLE, notNegative } from './formats.ts'
import { matchesSelector, validateSelector } from './label-selectors.ts'
import { validatePodTemplate } from './pod-spec.ts'
import { entriesOf, Problems, textAt } from './problems.ts'

const MAX_CRON_JOB_NAME = 52
const MAX_INDEXED_PARALLELISM = 100_000
const uidLabel = 'batch.kubernetes.io/controller-uid'

/** Validates a Job. */
export function validateJob(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  validateJobSpec(problems, spec, 'spec')
  validateGeneratedSelector(problems, object, spec)
  if (isJsonObject(spec.selector)) validateSelector(problems, spec.selector, 'spec.selector')
  else problems.required('spec.selector')
  const { labels } = objectAt(objectAt(spec, 'template'), 'metadata')
  if (
    !matchesSelector(objectAt(spec, 'selector'), isJsonObject(labels) ? labels : {}) ||
    !isJsonObject(spec.selector)
  ) {
    problems.invalid('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')
  }
  if (old !== undefined) validateJobUpdate(problems, spec, old)
  return problems.errors
}

/** A job without a manual selector has exactly the one that the server generated. */
function validateGeneratedSelector(problems: Problems, object: JsonObject, spec: JsonObject): void {
  if (spec.manualSelector === true) return
  const uid = objectAt(object, 'metadata').uid
  const expected: JsonObject = { matchLabels: { [uidLabel]: uid ?? '' } }
  if (!isJsonObject(spec.selector) || jsonEqual(spec.selector, expected)) return
  problems.invalid('spec.selector', spec.selector, '`selector` not auto-generated')
}

function validateJobSpec(problems: Problems, spec: JsonObject, path: string): void {
  const counts = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished']
  for (const field of [...counts, 'backoffLimitPerIndex', 'maxFailedIndexes']) {
    notNegative(problems, `${path}.${field}`, spec[field])
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    problems.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')
  }
  validateIndexes(problems, spec, path)
  if (isJsonObject(spec.podFailurePolicy))
    validateFailurePolicy(problems, spec, spec.podFailurePolicy, `${path}.podFailurePolicy`)
  if (spec.podReplacementPolicy !== undefined) {
    problems.oneOf(`${path}.podReplacementPolicy`, spec.podReplacementPolicy, ['Failed', 'TerminatingOrFailed'])
  }
  const template = objectAt(spec, 'template')
  validatePodTemplate(problems, template, `${path}.template`)
  const restarts = objectAt(template, 'spec').restartPolicy
  const at = `${path}.template.spec.restartPolicy`
  if (restarts === 'Always') problems.required(at, 'valid values: "OnFailure", "Never"')
  else if (restarts !== 'OnFailure' && restarts !== 'Never') problems.notSupported(at, restarts, ['OnFailure', 'Never'])
  else if (spec.podFailurePolicy !== undefined && restarts !== 'Never') {
    problems.invalid(at, restarts, 'only "Never" is supported when podFailurePolicy is specified')
  }
}

function validateIndexes(problems: Problems, spec: JsonObject, path: string): void {
  const mode = spec.completionMode
  if (mode !== undefined) problems.oneOf(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed'])
  if (mode === 'Indexed') {
    if (spec.completions === undefined) problems.required(`${path}.completions`, 'when completion mode is Indexed')
    if (Number(spec.parallelism ?? 0) > MAX_INDEXED_PARALLELISM) {
      const why = `must be less than or equal to ${MAX_INDEXED_PARALLELISM} when completion mode is Indexed`
      problems.invalid(`${path}.parallelism`, spec.parallelism, why)
    }
    if (Number(spec.maxFailedIndexes ?? 0) > Number(spec.completions ?? Number.POSITIVE_INFINITY)) {
      problems.invalid(`${path}.maxFailedIndexes`, spec.maxFailedIndexes, 'must be less than or equal to completions')
    }
  }
  if (mode !== undefined && mode !== 'NonIndexed') return
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    if (spec[field] !== undefined) problems.invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode')
  }
}

function validateFailurePolicy(problems: Problems, spec: JsonObject, policy: JsonObject, path: string): void {
  for (const [rule, at] of entriesOf(policy, 'rules', `${path}.rules`)) {
    if (rule.action === 'FailIndex') {
      if (spec.backoffLimitPerIndex === undefined) {
        problems.invalid(`${at}.action`, 'FailIndex', 'requires the backoffLimitPerIndex to be set')
      }
    } else problems.oneOf(`${at}.action`, rule.action, ['Count', 'FailIndex', 'FailJob', 'Ignore'])
    const hasConditions = arrayAt(rule, 'onPodConditions').length > 0
    if (isJsonObject(rule.onExitCodes)) validateExitCodes(problems, rule.onExitCodes, `${at}.onExitCodes`)
    const isBoth = isJsonObject(rule.onExitCodes) && hasConditions
    if (isBoth || (!isJsonObject(rule.onExitCodes) && !hasConditions)) {
      const which = isBoth
        ? 'specifying both OnExitCodes and OnPodConditions is not supported'
        : 'specifying one of OnExitCodes and OnPodConditions is required'
      problems.errors.push({ field: at, reason: 'FieldValueInvalid', message: `Invalid value: ${which}` })
    }
  }
}

function validateExitCodes(problems: Problems, codes: JsonObject, path: string): void {
  problems.oneOf(`${path}.operator`, codes.operator, ['In', 'NotIn'])
  const values = arrayAt(codes, 'values')
  if (values.length === 0) problems.invalid(`${path}.values`, [], 'at least one value is required')
  const seen = new Set<JsonValue>()
  for (const [index, value] of values.entries()) {
    const at = `${path}.values[${index}]`
    if (codes.operator === 'In' && value === 0) problems.invalid(at, value, 'must not be 0 for the In operator')
    if (seen.has(value)) problems.duplicate(at, value)
    seen.add(value)
  }
  if (values.some((value, index) => index > 0 && Number(values[index - 1]) > Number(value))) {
    problems.invalid(`${path}.values`, [...values], 'must be ordered')
  }
}

function validateJobUpdate(problems: Problems, spec: JsonObject, old: JsonObject): void {
  const before = objectAt(old, 'spec')
  const immutable = [
    'selector',
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ]
  if (!jsonEqual(spec.completions, before.completions)) {
    const isIndexed = before.completionMode === 'Indexed'
    // An indexed job may change its size, as long as completions and parallelism stay equal.
    if (!isIndexed) problems.invalid('spec.completions', spec.completions ?? null, IMMUTABLE)
    else if (spec.completions !== spec.parallelism) {
      const why = `can only be modified in tandem with spec.parallelism`
      problems.invalid('spec.completions', spec.completions ?? null, why)
    }
  }
  for (const field of immutable) {
    if (!jsonEqual(spec[field], before[field])) problems.invalid(`spec.${field}`, spec[field] ?? null, IMMUTABLE)
  }
  const isStarted = objectAt(old, 'status').startTime !== undefined
  const isSuspended = before.suspend === true && !isStarted
  const template = objectAt(spec, 'template')
  const fixed = isSuspended ? withScheduling(objectAt(before, 'template'), template) : objectAt(before, 'template')
  if (!jsonEqual(template, fixed)) problems.invalid('spec.template', template, IMMUTABLE)
}

/** The old template with the scheduling fields of the new one: they may change until the job has started. */
function withScheduling(before: JsonObject, now: JsonObject): JsonObject {
  const { nodeSelector, tolerations, schedulingGates, affinity } = objectAt(now, 'spec')
  const scheduling = { nodeSelector, tolerations, schedulingGates, affinity }
  return { ...before, metadata: now.metadata, spec: { ...objectAt(before, 'spec'), ...scheduling } }
}

/** Validates a CronJob. */
export function validateCronJob(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const name = textAt(objectAt(object, 'metadata'), 'name')
  // Jobs append a number to the name.
  if (name.length > MAX_CRON_JOB_NAME) {
    problems.invalid('metadata.name', name, `must be no more than ${MAX_CRON_JOB_NAME} characters`)
  }
  const schedule = textAt(spec, 'schedule')
  if (schedule === '') problems.required('spec.schedule')
  else validateSchedule(problems, schedule, old)
  for (const field of ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit']) {
    notNegative(problems, `spec.${field}`, spec[field])
  }
  if (spec.timeZone !== objectAt(old, 'spec').timeZone) validateTimeZone(problems, spec.timeZone)
  problems.oneOf('spec.concurrencyPolicy', spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'])
  validateJobSpec(problems, objectAt(objectAt(spec, 'jobTemplate'), 'spec'), 'spec.jobTemplate.spec')
  return problems.errors
}

function validateSchedule(problems: Problems, schedule: string, old: JsonObject | undefined): void {
  const problem = cronProblem(schedule)
  if (problem !== undefined) problems.invalid('spec.schedule', schedule, problem)
  const hadZone = textAt(objectAt(old, 'spec'), 'schedule').includes('TZ')
  if (schedule.includes('TZ') && !hadZone) {
    problems.invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  }
}

function validateTimeZone(problems: Problems, zone: JsonValue | undefined): void {
  if (typeof zone !== 'string') return
  if (zone === '') problems.invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string')
  else if (!isTimeZone(zone)) problems.invalid('spec.timeZone', zone, `unknown time zone ${zone}`)
}

function isTimeZone(zone: string): boolean {
  try {
    // Only the constructor knows the supported time zones.
    return new Intl.DateTimeFormat('en', { timeZone: zone }) instanceof Intl.DateTimeFormat
  } catch {
    // It throws for an unknown time zone.
    return false
  }
}
