/** Replays recorded writes of a real API server, each starting from that server's objects. For tests. */
import { expect } from 'vitest'
import { serverSideApply } from '../../src/apply/apply.ts'
import { managedFieldsOf, withoutManagedFields } from '../../src/apply/managed-fields.ts'
import { trackUpdate } from '../../src/apply/track.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts'
import { applyDefaults } from '../../src/schema/default.ts'
import { canonicalJson } from '../../src/schema/json-value.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { validateSchema } from '../../src/schema/validate.ts'
import { StatusError } from '../../src/status-error.ts'

/** A write and its result: the object, or the code and message of the error. */
export interface RecordedStep {
  do: 'apply' | 'create' | 'put' | 'merge' | 'json' | 'smp'
  manager: string
  force?: boolean
  subresource?: string
  body: JsonObject
  object?: JsonObject
  code?: number
  message?: string
}

/** managedFields in a fixed order and without fields that a recording cannot contain. */
function records(object: JsonObject): unknown[] {
  const list = managedFieldsOf(object)
  return (Array.isArray(list) ? list.filter(isJsonObject) : [])
    .map(({ time: _, fieldsType: __, ...entry }) => entry)
    .sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1))
}

function recordedObject(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  const list = managedFieldsOf(object)
  if (!Array.isArray(list)) return object
  const managedFields = list.filter(isJsonObject).map((entry) => ({ ...entry, fieldsType: 'FieldsV1' }))
  return { ...object, metadata: { ...metadata, managedFields } }
}

/** Metadata and defaults that the server sets after the merge. */
function stored(schema: Schema, object: JsonObject): JsonObject {
  const metadata: JsonObject = { namespace: 'default' }
  for (const [name, value] of Object.entries(isJsonObject(object.metadata) ? object.metadata : {})) {
    const isEmpty = value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    if (!isEmpty && name !== 'managedFields') metadata[name] = value
  }
  return { ...applyDefaults(schema, object, { keepNulls: true }), metadata }
}

function sentManagedFields(step: RecordedStep, live: JsonObject | undefined): JsonValue | undefined {
  const sent = step.do === 'json' || step.do === 'smp' ? undefined : managedFieldsOf(step.body)
  return sent ?? (step.do === 'put' ? undefined : managedFieldsOf(live))
}

function updated(step: RecordedStep, object: JsonObject, live: JsonObject | undefined): JsonObject {
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  return { ...object, metadata: { ...metadata, managedFields: sentManagedFields(step, live) } }
}

/** Executes every step and expects the recorded result. */
export function replay(
  schema: Schema | undefined,
  apiVersion: string,
  steps: readonly RecordedStep[],
  isCustom: boolean,
): void {
  let live: JsonObject | undefined
  for (const [index, step] of steps.entries()) {
    const { manager, subresource, body } = step
    const base = { schema, apiVersion, live, manager, subresource, now: index * 1000 }
    if (step.do === 'apply') {
      const outcome = attempt(() => {
        const result = serverSideApply({ ...base, applied: body, force: step.force ?? false })
        const problems = isCustom && schema ? validateSchema(schema, stored(schema, result)) : []
        if (problems.length > 0) throw new StatusError(422, 'Invalid', problems.map(({ field }) => field).join())
        return result
      })
      if (step.object === undefined) {
        expect(outcome, `step ${index}`).toBeInstanceOf(StatusError)
        expect(outcome, `step ${index}`).toMatchObject(
          step.code === 422 ? { code: 422 } : { code: step.code, message: step.message },
        )
      } else if (!(outcome instanceof StatusError)) {
        expect(records(outcome), `step ${index}`).toEqual(records(step.object))
        if (isCustom && schema) expect(stored(schema, outcome)).toEqual(withoutManagedFields(step.object))
      } else {
        throw outcome
      }
    } else if (step.object !== undefined) {
      const result = trackUpdate({ ...base, updated: updated(step, withoutManagedFields(step.object), live) })
      expect(records(result), `step ${index}`).toEqual(records(step.object))
    }
    live = step.object === undefined ? live : recordedObject(step.object)
  }
}

function attempt(action: () => JsonObject): JsonObject | StatusError {
  try {
    return action()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
}
