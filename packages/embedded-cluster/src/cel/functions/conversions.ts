/** Conversions between types. */
import { conversionError } from '../cel-error.ts'
import { checkedInt } from '../operators.ts'
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../time.ts'
import { CelDuration, CelTimestamp, CelType, CelUint, type CelValue, typeName } from '../values.ts'
import { celFunction, cheap, type FunctionTable } from './cel-function.ts'

/** Conversion functions by the name of the target type. */
export const conversions: FunctionTable = {
  bool: celFunction('bool', ([value]) => toBool(value)),
  bytes: celFunction('bytes', ([value]) => {
    if (typeof value === 'string') return new Uint8Array(Buffer.from(value))
    return value instanceof Uint8Array ? value : undefined
  }),
  double: celFunction('double', ([value]) => toDouble(value)),
  duration: celFunction('duration', ([value]) => {
    if (typeof value === 'string') return parseDuration(value) ?? fail(value, 'google.protobuf.Duration')
    return value instanceof CelDuration ? value : undefined
  }),
  dyn: cheap(celFunction('dyn', ([value]) => value)),
  int: celFunction('int', ([value]) => toInt(value)),
  string: celFunction('string', ([value]) => toText(value)),
  timestamp: celFunction('timestamp', ([value]) => {
    if (typeof value === 'string') return parseTimestamp(value) ?? fail(value, 'google.protobuf.Timestamp')
    if (typeof value === 'bigint') return new CelTimestamp(Number(value) * 1000)
    return value instanceof CelTimestamp ? value : undefined
  }),
  type: cheap(celFunction('type', ([value]) => (value === undefined ? undefined : new CelType(typeName(value))))),
  uint: celFunction('uint', ([value]) => {
    if (value instanceof CelUint) return value
    const number = toInt(value)
    if (number === undefined) return undefined
    return number < 0n ? fail(value ?? null, 'uint') : new CelUint(number)
  }),
}

function fail(value: CelValue, to: string): never {
  throw conversionError(typeName(value), to)
}

function toBool(value: CelValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return undefined
  if (['1', 't', 'true', 'TRUE', 'True', 'T'].includes(value)) return true
  if (['0', 'f', 'false', 'FALSE', 'False', 'F'].includes(value)) return false
  return fail(value, 'bool')
}

function toInt(value: CelValue | undefined): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (value instanceof CelUint) return checkedInt(value.value)
  if (value instanceof CelTimestamp) return BigInt(Math.floor(value.epochMs / 1000))
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return fail(value, 'int')
    return checkedInt(BigInt(Math.trunc(value)))
  }
  if (typeof value !== 'string') return undefined
  return /^[+-]?\d{1,19}$/.test(value) ? checkedInt(BigInt(value)) : fail(value, 'int')
}

function toDouble(value: CelValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof CelUint) return Number(value.value)
  if (typeof value !== 'string') return undefined
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return Number.isNaN(number) && value !== 'NaN' ? fail(value, 'double') : number
}

/** The string form of any value that has one. */
export function toText(value: CelValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number') return String(value)
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelTimestamp) return formatTimestamp(value)
  if (value instanceof CelDuration) return formatDuration(value)
  if (value instanceof CelType) return value.name
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (value instanceof Object && 'toText' in value && typeof value.toText === 'function') return String(value.toText())
  return undefined
}
