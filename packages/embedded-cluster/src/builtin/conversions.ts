/** Conversions between versions or groups of built-in kinds that have more than one. */
import { cloneJson, type JsonObject } from '../json.ts'
import { autoscalerToV1, autoscalerToV2 } from './autoscaler-versions.ts'
import { builtinMessageTypes } from './messages.ts'
import { toTypedForm } from './typed-form.ts'

/** Whether {@link convertBuiltin} supports this kind and these versions. */
export function isBuiltinConversion(apiVersion: string): boolean {
  return ['v1', 'events.k8s.io/v1', 'autoscaling/v1', 'autoscaling/v2'].includes(apiVersion)
}

/** `object` in another version, as a draft; without a specific conversion only `apiVersion` changes. */
export function convertBuiltin(object: JsonObject, toApiVersion: string): JsonObject {
  if (object.apiVersion === toApiVersion) return object
  const draft = cloneJson(translate(object, toApiVersion))
  // Versions also differ in the fields that are encoded without a value.
  const type = builtinMessageTypes().ofKind(toApiVersion, String(object.kind))
  if (type !== undefined) toTypedForm(type, draft)
  return draft
}

function translate(object: JsonObject, toApiVersion: string): JsonObject {
  if (object.kind === 'Event') return toApiVersion === 'v1' ? eventToCore(object) : eventFromCore(object)
  if (object.kind === 'HorizontalPodAutoscaler') {
    return toApiVersion === 'autoscaling/v1' ? autoscalerToV1(object) : autoscalerToV2(object)
  }
  return { ...object, apiVersion: toApiVersion }
}

/** Names of the same fields in the core group and in `events.k8s.io`. */
const eventFields: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

function eventFromCore(event: JsonObject): JsonObject {
  return rename(event, 'events.k8s.io/v1', eventFields)
}

/** An event of `events.k8s.io` in its core form. */
export function eventToCore(event: JsonObject): JsonObject {
  return rename(
    event,
    'v1',
    eventFields.map(([core, events]) => [events, core] as const),
  )
}

function rename(
  object: JsonObject,
  apiVersion: string,
  names: readonly (readonly [from: string, to: string])[],
): JsonObject {
  const renamed: JsonObject = { ...object, apiVersion }
  for (const [from, to] of names) {
    if (renamed[from] === undefined) continue
    renamed[to] = renamed[from]
    delete renamed[from]
  }
  return renamed
}
