/** Messages whose JSON differs from their fields. */

import type { SpecialType } from '../builtin/messages.ts'
import { formatTime } from '../builtin/scalar-forms.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { MalformedProtobuf } from './wire-reader.ts'

/** The fields of such a message, with the decoded embedded value. */
export interface SpecialFields {
  readonly fields: JsonObject
  /** Decodes bytes that contain JSON or, as Go clients may nest them, another protobuf body. */
  readonly embedded: (bytes: Uint8Array) => JsonValue
}

/** The year 10000, after which a time has no text format. */
const MAX_SECONDS = 253_402_300_800
const MIN_SECONDS = -62_167_219_200

/** The JSON of a special message; `null` means a zero value. */
export function specialJson(type: SpecialType, name: string, { fields, embedded }: SpecialFields): JsonValue {
  switch (type) {
    case 'Quantity':
      return fields.string ?? '0'
    case 'IntOrString':
      return fields.type === 1 ? (fields.strVal ?? '') : (fields.intVal ?? 0)
    case 'Time':
      return time(fields, false)
    case 'MicroTime':
      return time(fields, true)
    case 'Duration':
      return formatDuration(typeof fields.duration === 'number' ? fields.duration : 0)
    case 'RawJson': {
      const raw = fields.raw ?? fields.Raw
      return typeof raw === 'string' && raw !== '' ? embedded(Buffer.from(raw, 'base64')) : null
    }
    case 'JSONSchemaPropsOr':
      return schemaOr(name, fields)
    case 'NamedSlice':
      return fields[''] ?? []
  }
}

function schemaOr(name: string, { schema, jSONSchemas, allows, property }: JsonObject): JsonValue {
  if (name.endsWith('OrBool')) return isJsonObject(schema) ? schema : (allows ?? false)
  return schema ?? jSONSchemas ?? property ?? null
}

function time({ seconds, nanos }: JsonObject, withMicros: boolean): string | null {
  if (seconds === undefined && nanos === undefined) return null
  const whole = typeof seconds === 'number' ? seconds : 0
  if (whole < MIN_SECONDS || whole >= MAX_SECONDS) throw new MalformedProtobuf('a time is out of range')
  if (!withMicros) return formatTime(whole, undefined)
  const micros = Math.floor((typeof nanos === 'number' ? nanos : 0) / 1000)
  if (micros < 0 || micros > 999_999) throw new MalformedProtobuf('the fraction of a time is out of range')
  return formatTime(whole, String(micros).padStart(6, '0'))
}

/** Nanoseconds in Go's duration format: `1h0m30s`, `250ms`. */
function formatDuration(nanoseconds: number): string {
  if (nanoseconds === 0) return '0s'
  const sign = nanoseconds < 0 ? '-' : ''
  const total = Math.abs(nanoseconds)
  if (total < 1e3) return `${sign}${total}ns`
  if (total < 1e6) return `${sign}${total / 1e3}µs`
  if (total < 1e9) return `${sign}${total / 1e6}ms`
  const hours = Math.floor(total / 3.6e12)
  const minutes = Math.floor((total % 3.6e12) / 6e10)
  const seconds = (total % 6e10) / 1e9
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
