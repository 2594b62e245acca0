/** The JSON that Go encodes for zero values. */
import type { JsonObject, JsonValue } from '../json.ts'
import type { MessageField, MessageType } from './messages.ts'

/** The JSON of a field that was never set, if it is encoded at all. */
export function zeroOf(field: MessageField): JsonValue {
  if (field.isPointer || field.cardinality !== 'one') return null
  return zeroValue(field)
}

/** The JSON of one element of a field that was never set. */
export function zeroValue({ value }: MessageField): JsonValue {
  switch (value.kind) {
    case 'string':
    case 'bytes':
      return ''
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'double':
      return 0
    case 'message':
      return zeroMessage(value.message)
  }
}

/** The JSON of a struct in which nothing is set. */
export function zeroStruct(type: MessageType): JsonObject {
  const zero: JsonObject = {}
  for (const field of type.alwaysPresent) zero[field.name] = zeroOf(field)
  return zero
}

function zeroMessage(type: MessageType): JsonValue {
  switch (type.special) {
    case 'Quantity':
      return '0'
    case 'IntOrString':
      return 0
    case 'Duration':
      return '0s'
    case undefined:
      return zeroStruct(type)
    default:
      return null
  }
}
