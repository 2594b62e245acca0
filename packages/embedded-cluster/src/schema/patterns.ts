/** Regular expressions in schemas, in the API server's syntax (RE2): no look-around, linear time. */
import { RE2JS } from 're2js'
import type { Schema } from './schema.ts'

/** Compiled patterns by schema. A cache: schemas are immutable, and entries are collected with their schema. */
const compiled = new WeakMap<Schema, RE2JS>()

/** Whether `text` contains a match of the schema's pattern. A pattern that RE2 rejects matches nothing. */
export function matchesPattern(schema: Schema, text: string): boolean {
  if (schema.pattern === undefined) return true
  let pattern = compiled.get(schema)
  if (pattern === undefined) {
    const candidate = compilePattern(schema.pattern)
    if (typeof candidate === 'string') return false
    pattern = candidate
    compiled.set(schema, pattern)
  }
  return pattern.matcher(text).find()
}

/** The compiled expression, or the error. */
export function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
