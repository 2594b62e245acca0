/** Events of both groups. */
import { type JsonObject, type JsonValue, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { IMMUTABLE, qualifiedNameProblems } from './formats.ts'
import { Problems, textAt } from './problems.ts'

const noMatch = 'does not match event.namespace'
const MAX_TEXT = 128
const MAX_NOTE = 1024

/** Names of the fields in the group of the request; the messages use those of the core group. */
interface EventFields {
  readonly object: string
  readonly message: string
  readonly controller: string
  readonly source: string
  readonly first: string
  readonly last: string
  readonly count: string
}

const coreFields: EventFields = {
  object: 'involvedObject',
  message: 'message',
  controller: 'reportingComponent',
  source: 'source',
  first: 'firstTimestamp',
  last: 'lastTimestamp',
  count: 'count',
}
const newFields: EventFields = {
  object: 'regarding',
  message: 'note',
  controller: 'reportingController',
  source: 'deprecatedSource',
  first: 'deprecatedFirstTimestamp',
  last: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
}

/** Validates an Event. */
export function validateEvent(event: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const isCore = event.apiVersion === 'v1'
  const fields = isCore ? coreFields : newFields
  validateForBoth(problems, event, fields)
  if (isCore) return problems.errors
  if (old === undefined) validateNewEvent(problems, event, fields)
  else validateNewEventUpdate(problems, event, old, fields)
  return problems.errors
}

function hasTime(value: JsonValue | undefined): boolean {
  return typeof value === 'string'
}

function validateForBoth(problems: Problems, event: JsonObject, fields: EventFields): void {
  const namespace = textAt(objectAt(event, 'metadata'), 'namespace')
  const objectNamespace = textAt(objectAt(event, fields.object), 'namespace')
  const at = 'involvedObject.namespace'
  if (!hasTime(event.eventTime)) {
    const isMatching = objectNamespace === '' ? namespace === 'default' : objectNamespace === namespace
    if (!isMatching) problems.invalid(at, objectNamespace, noMatch)
    return
  }
  if (objectNamespace === '' && namespace !== 'default' && namespace !== 'kube-system') {
    problems.invalid(at, objectNamespace, noMatch)
  }
  const controller = textAt(event, fields.controller)
  if (controller === '') problems.required(fields.controller)
  problems.invalidAll(fields.controller, controller, qualifiedNameProblems(controller))
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(event, field)
    if (text === '') problems.required(field)
    if (text.length > MAX_TEXT) problems.invalid(field, '', `can have at most ${MAX_TEXT} characters`)
  }
  if (textAt(event, fields.message).length > MAX_NOTE) {
    problems.invalid('message', '', `can have at most ${MAX_NOTE} characters`)
  }
}

function validateNewEvent(problems: Problems, event: JsonObject, fields: EventFields): void {
  if (!hasTime(event.eventTime)) problems.required('eventTime')
  const type = textAt(event, 'type')
  if (type !== 'Normal' && type !== 'Warning') problems.invalid('type', '', `has invalid value: ${type}`)
  for (const [field, name] of [
    [fields.first, 'firstTimestamp'],
    [fields.last, 'lastTimestamp'],
  ] as const) {
    if (hasTime(event[field])) problems.invalid(name, '', 'needs to be unset')
  }
  if ((event[fields.count] ?? 0) !== 0) problems.invalid('count', '', 'needs to be unset')
  const source = objectAt(event, fields.source)
  if (textAt(source, 'component') !== '' || textAt(source, 'host') !== '') {
    problems.invalid('source', '', 'needs to be unset')
  }
}

function validateNewEventUpdate(problems: Problems, event: JsonObject, old: JsonObject, fields: EventFields): void {
  const named: readonly (readonly [field: string, name: string])[] = [
    [fields.object, 'involvedObject'],
    [fields.message, 'message'],
    [fields.source, 'source'],
    [fields.first, 'firstTimestamp'],
    [fields.last, 'lastTimestamp'],
    [fields.count, 'count'],
    ...['reason', 'type', 'eventTime', 'action', 'related', 'reportingController', 'reportingInstance'].map(
      (field) => [field, field] as const,
    ),
  ]
  for (const [field, name] of named) {
    if (!jsonEqual(event[field], old[field])) problems.invalid(name, event[field] ?? null, IMMUTABLE)
  }
}
