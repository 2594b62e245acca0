/** Messages whose JSON does not look like their fields. */
import type { JsonObject, JsonValue } from '../json.ts'
import { MalformedProtobuf } from './wire-reader.ts'

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1'
const definitions = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1'

/** Turns the fields of a special message into its JSON; `undefined` stands for a zero value that JSON leaves out. */
export type SpecialForm = (fields: JsonObject) => JsonValue | undefined

const forms: Readonly<Record<string, SpecialForm>> = {
  'k8s.io.apimachinery.pkg.api.resource.Quantity': ({ string }) => string ?? '0',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': ({ type, intVal, strVal }) =>
    type === 1 ? (strVal ?? '') : (intVal ?? 0),
  'k8s.io.apimachinery.pkg.runtime.RawExtension': ({ raw }) => parseRaw(raw),
  [`${meta}.FieldsV1`]: ({ Raw }) => parseRaw(Raw),
  [`${definitions}.JSON`]: ({ raw }) => parseRaw(raw),
  [`${meta}.Time`]: (fields) => time(fields, false),
  [`${meta}.MicroTime`]: (fields) => time(fields, true),
  [`${meta}.Timestamp`]: (fields) => time(fields, false),
  [`${meta}.Duration`]: ({ duration }) => formatDuration(typeof duration === 'number' ? duration : 0),
  [`${definitions}.JSONSchemaPropsOrArray`]: ({ schema, jSONSchemas }) => jSONSchemas ?? schema,
  [`${definitions}.JSONSchemaPropsOrBool`]: ({ schema, allows }) => schema ?? allows ?? false,
  [`${definitions}.JSONSchemaPropsOrStringArray`]: ({ schema, property }) => property ?? schema,
}

/** The form of `message`, if it is special. Its fields are then read without leaving out zero values. */
export function specialForm(message: string): SpecialForm | undefined {
  return Object.hasOwn(forms, message) ? forms[message] : undefined
}

/** Bytes arrive as base64, as everywhere; here they hold JSON. */
function parseRaw(raw: JsonValue | undefined): JsonValue | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  try {
    const value: JsonValue = JSON.parse(Buffer.from(raw, 'base64').toString('utf8'))
    return value
  } catch {
    throw new MalformedProtobuf('an embedded value is not JSON')
  }
}

/** The zero time of Go, which JSON leaves out. */
const ZERO_SECONDS = -62_135_596_800

function time({ seconds, nanos }: JsonObject, withMicros: boolean): string | undefined {
  const whole = typeof seconds === 'number' ? seconds : 0
  if (whole === ZERO_SECONDS || (seconds === undefined && nanos === undefined)) return undefined
  const text = new Date(whole * 1000).toISOString().slice(0, 19)
  if (!withMicros) return `${text}Z`
  const micros = Math.floor((typeof nanos === 'number' ? nanos : 0) / 1000)
  return `${text}.${String(micros).padStart(6, '0')}Z`
}

/** Nanoseconds as Go writes durations: `1h0m30s`, `250ms`. */
export function formatDuration(nanoseconds: number): string {
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
