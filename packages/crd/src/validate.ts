/** Validates an object against a CRD's schema without a cluster: for controllers, CI pipelines and editors. */
import { isRecord, ownValue } from '@reeve/http'
import type { StructuralSchema } from './structural-schema.ts'

/** One problem of an object. */
export interface Problem {
  /** Such as `spec.env[0].name`. */
  readonly field: string
  /** A sentence with the problem and the expected value. */
  readonly message: string
}

/**
 * Lists the violations of the schema in `value`, at most a hundred; empty means valid. CEL rules are evaluated by the
 * server only.
 *
 * @example
 * const problems = validate(objectSchema(WebAppCrd, 'v1'), object)
 * for (const { field, message } of problems) console.error(`${field}: ${message}`)
 */
export function validate(schema: StructuralSchema, value: unknown, field = ''): readonly Problem[] {
  const problems: Problem[] = []
  check(schema, value, field, problems)
  return problems.slice(0, MAX_PROBLEMS)
}

/** More problems would not help to fix them; an untrusted object could have a million. */
const MAX_PROBLEMS = 100

/** `metadata` is validated by the API server itself, in the same way for all kinds. */
const UNCHECKED = new Set(['metadata', 'apiVersion', 'kind'])

function check(schema: StructuralSchema, value: unknown, field: string, problems: Problem[]): void {
  if (problems.length >= MAX_PROBLEMS) return
  const report = (message: string) => problems.push({ field: field === '' ? '(root)' : field, message })
  if (value === null) {
    if (!schema.nullable) report(`must not be null; leave the field out or give it ${article(expected(schema))}`)
    return
  }
  if (!hasExpectedType(schema, value)) {
    report(`must be ${article(expected(schema))}, not ${article(typeName(value))}`)
    return
  }
  if (schema.enum && !schema.enum.some((allowed) => allowed === value)) {
    report(`must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}, not ${shown(value)}`)
  }
  if (typeof value === 'number') checkNumber(schema, value, report)
  if (typeof value === 'string') checkString(schema, value, report)
  if (Array.isArray(value)) checkList(schema, value, field, problems, report)
  else if (isRecord(value)) checkObject(schema, value, field, problems, report)
  checkCombinations(schema, value, report)
}

type Report = (message: string) => void

function checkNumber(schema: StructuralSchema, value: number, report: Report): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    report(`must be ${exclusiveMinimum ? 'greater than' : 'at least'} ${minimum}, not ${value}`)
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    report(`must be ${exclusiveMaximum ? 'less than' : 'at most'} ${maximum}, not ${value}`)
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) report(`must be a multiple of ${multipleOf}, not ${value}`)
}

function checkString(schema: StructuralSchema, value: string, report: Report): void {
  const isLimited = schema.minLength !== undefined || schema.maxLength !== undefined
  const length = isLimited ? charactersOf(value) : 0
  if (schema.minLength !== undefined && length < schema.minLength) {
    report(
      schema.minLength === 1 ? 'must not be empty' : `must have at least ${schema.minLength} characters, not ${length}`,
    )
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    report(`must have at most ${schema.maxLength} characters, not ${length}`)
  }
  if (schema.pattern !== undefined && !patternOf(schema, schema.pattern).test(value)) {
    report(`must match ${schema.pattern}, and ${shown(value)} does not`)
  }
}

/** Outside the basic plane a character is a pair of surrogates. */
const SURROGATE = /[\ud800-\udfff]/

const charactersOf = (text: string): number => (SURROGATE.test(text) ? [...text].length : text.length)

/** Compiled once for each schema, which does not change: controllers validate in every reconcile. */
const patterns = new WeakMap<StructuralSchema, RegExp>()

function patternOf(schema: StructuralSchema, pattern: string): RegExp {
  const known = patterns.get(schema)
  if (known !== undefined) return known
  const compiled = new RegExp(pattern, 'u')
  patterns.set(schema, compiled)
  return compiled
}

function checkList(
  schema: StructuralSchema,
  value: readonly unknown[],
  field: string,
  problems: Problem[],
  report: Report,
): void {
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    report(`must have at least ${schema.minItems} items, not ${value.length}`)
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    report(`must have at most ${schema.maxItems} items, not ${value.length}`)
  }
  const { items } = schema
  if (items) {
    for (const [index, item] of value.entries()) check(items, item, `${field}[${index}]`, problems)
  }
  const keys = schema['x-kubernetes-list-map-keys']
  const isUnique = schema['x-kubernetes-list-type'] === 'set' || keys !== undefined
  if (!isUnique) return
  const seen = new Set<string>()
  value.forEach((item, index) => {
    const identity = JSON.stringify(
      keys && isRecord(item) ? keys.map((key) => ownValue(item, key) ?? items?.properties?.[key]?.default) : item,
    )
    if (seen.has(identity)) {
      problems.push({
        field: `${field}[${index}]`,
        message: `repeats an earlier item${keys ? ` (same ${keys.join(', ')})` : ''}`,
      })
    }
    seen.add(identity)
  })
}

function checkObject(
  schema: StructuralSchema,
  value: Readonly<Record<string, unknown>>,
  field: string,
  problems: Problem[],
  report: Report,
): void {
  const at = (name: string) => (field === '' ? name : `${field}.${name}`)
  for (const name of schema.required ?? []) {
    if (ownValue(value, name) === undefined) problems.push({ field: at(name), message: 'is required' })
  }
  const names = Object.keys(value)
  const count = names.length
  if (schema.minProperties !== undefined && count < schema.minProperties) {
    report(`must have at least ${schema.minProperties} entries, not ${count}`)
  }
  if (schema.maxProperties !== undefined && count > schema.maxProperties) {
    report(`must have at most ${schema.maxProperties} entries, not ${count}`)
  }
  for (const name of names) {
    if (problems.length >= MAX_PROBLEMS) return
    const child = value[name]
    if (child === undefined || (field === '' && UNCHECKED.has(name))) continue
    const known = ownValue(schema.properties, name) ?? schema.additionalProperties
    if (typeof known === 'object') check(known, child, at(name), problems)
    else if (known !== true && !schema['x-kubernetes-preserve-unknown-fields']) {
      problems.push({ field: at(name), message: unknownField(schema) })
    }
  }
}

function checkCombinations(schema: StructuralSchema, value: unknown, report: Report): void {
  const fits = (branch: StructuralSchema) =>
    validate({ ...branch, 'x-kubernetes-preserve-unknown-fields': true }, value).length === 0
  if (schema.anyOf && !schema['x-kubernetes-int-or-string'] && !schema.anyOf.some(fits)) {
    report('matches none of the alternatives the schema allows')
  }
  if (schema.oneOf && schema.oneOf.filter(fits).length !== 1)
    report('must match exactly one of the alternatives the schema allows')
  if (schema.allOf && !schema.allOf.every(fits)) report('does not meet all conditions of the schema')
  if (schema.not && fits(schema.not)) report('has a form that the schema excludes')
}

function unknownField(schema: StructuralSchema): string {
  const known = Object.keys(schema.properties ?? {})
  return known.length > 0 && known.length <= 12
    ? `is not a known field; known fields are ${known.join(', ')}`
    : 'is not a known field'
}

function hasExpectedType(schema: StructuralSchema, value: unknown): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || Number.isInteger(value)
  switch (schema.type) {
    case undefined:
      return true
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    default:
      return typeof value === schema.type
  }
}

function expected(schema: StructuralSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string'
  return schema.type === 'array' ? 'list' : (schema.type ?? 'value')
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
