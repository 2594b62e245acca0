/** Reads members of untrusted JSON. */
import { isRecord, type JsonRecord } from '@reeve/http'

/** The object at `key`, empty when it is missing. */
export function objectAt(value: JsonRecord, key: string): JsonRecord {
  const found = value[key]
  return isRecord(found) ? found : {}
}

/** The text at `key`, if it is a string and not empty. */
export function textAt(value: JsonRecord, key: string): string | undefined {
  const found = value[key]
  return typeof found === 'string' && found !== '' ? found : undefined
}
