/** Evaluates the compiled rules of a custom resource. */
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { invalid } from '../schema/field-error.ts'
import { canonicalJson, ownField } from '../schema/json-value.ts'
import type { FieldError } from '../status-error.ts'
import { Budget, maxStepsPerObject, maxStepsPerRule } from './budget.ts'
import { CelBudgetError, CelError } from './cel-error.ts'
import { type CompiledRule, type CompiledRules, parseFieldPath } from './compile-rules.ts'
import { evaluateExpression } from './evaluate.ts'
import { celFromJson } from './from-json.ts'
import type { Scope } from './scope.ts'
import { CelOptional, type CelValue } from './values.ts'

/** Schema errors after which rules cannot be evaluated on an object. */
const blockingReasons = new Set<FieldError['reason']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** The error reported when rules are not evaluated because of schema errors, or `undefined` when they are evaluated. */
export function rulesNotChecked(schemaErrors: readonly FieldError[]): FieldError | undefined {
  if (!schemaErrors.some(({ reason }) => blockingReasons.has(reason))) return undefined
  return invalid(
    '<nil>',
    null,
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  )
}

/**
 * Every violated rule. A violated rule on a part that an update does not change is not reported.
 *
 * *Assumptions*: the object is valid against the schema as far as `rulesNotChecked` requires.
 */
export function evaluateRules(compiled: CompiledRules, object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const run = new Run()
  run.visit(compiled, object, old, '')
  return run.errors
}

/** One evaluation of all rules of an object. */
class Run {
  readonly errors: FieldError[] = []
  #stepsLeft = maxStepsPerObject

  visit(compiled: CompiledRules, value: JsonValue, old: JsonValue | undefined, path: string): void {
    if (value === null) return
    if (compiled.rules.length > 0) this.#apply(compiled, value, old, path)
    if (Array.isArray(value)) {
      if (compiled.items === undefined) return
      const counterpart = oldItem(compiled, old)
      for (const [index, item] of value.entries()) {
        this.visit(compiled.items, item, counterpart(item), `${path}[${index}]`)
      }
    } else if (isJsonObject(value)) {
      this.#visitFields(compiled, value, old, path)
    }
  }

  #visitFields(compiled: CompiledRules, value: JsonObject, old: JsonValue | undefined, path: string): void {
    const before = (name: string): JsonValue | undefined => (isJsonObject(old) ? ownField(old, name) : undefined)
    for (const [name, below] of compiled.fields) {
      const field = ownField(value, name)
      if (field !== undefined) this.visit(below, field, before(name), path === '' ? name : `${path}.${name}`)
    }
    if (compiled.entries === undefined) return
    for (const name in value) {
      const entry = value[name]
      if (entry !== undefined) this.visit(compiled.entries, entry, before(name), `${path}[${name}]`)
    }
  }

  #apply(compiled: CompiledRules, value: JsonValue, old: JsonValue | undefined, path: string): void {
    let self: CelValue | undefined
    let oldSelf: CelValue | undefined
    for (const rule of compiled.rules) {
      const isOptional = rule.source.optionalOldSelf === true
      // A transition rule does not apply to a value without an old value.
      if (rule.usesOldSelf && old === undefined && !isOptional) continue
      self ??= celFromJson(compiled.schema, value)
      if (rule.usesOldSelf && old !== undefined) oldSelf ??= celFromJson(compiled.schema, old)
      const scope = ruleScope(self, isOptional ? new CelOptional(oldSelf) : oldSelf)
      const error = this.#evaluate(compiled, rule, value, scope, path)
      // An unchanged value was accepted before and is not reported on update.
      if (error !== undefined && !(old !== undefined && !rule.usesOldSelf && jsonEqual(old, value)))
        this.errors.push(error)
    }
  }

  #evaluate(
    compiled: CompiledRules,
    rule: CompiledRule,
    value: JsonValue,
    scope: Scope,
    path: string,
  ): FieldError | undefined {
    const budget = new Budget(Math.min(maxStepsPerRule, this.#stepsLeft))
    const granted = budget.left
    try {
      const result = evaluateExpression(rule.expression, scope, budget, compiled.patterns)
      if (result === true) return undefined
      return this.#failure(compiled, rule, value, scope, path, budget)
    } catch (error) {
      return ruleError(rule, value, path, error)
    } finally {
      this.#stepsLeft -= granted - Math.max(0, budget.left)
    }
  }

  #failure(
    compiled: CompiledRules,
    rule: CompiledRule,
    value: JsonValue,
    scope: Scope,
    path: string,
    budget: Budget,
  ): FieldError {
    const { fieldPath, reason = 'FieldValueInvalid', message, rule: text } = rule.source
    const detail = messageOf(compiled, rule, scope, budget) ?? (message || `failed rule: ${text.trim()}`)
    const below = fieldPath === undefined ? '' : (parseFieldPath(compiled.schema, fieldPath) ?? '')
    const field = path === '' ? below.replace(/^\./, '') : `${path}${below}`
    const isScalar = typeof value !== 'object'
    switch (reason) {
      case 'FieldValueRequired':
        return { field, reason, message: `Required value: ${detail}` }
      case 'FieldValueForbidden':
        return { field, reason, message: `Forbidden: ${detail}` }
      case 'FieldValueDuplicate':
        return { field, reason, message: isScalar ? `Duplicate value: ${JSON.stringify(value)}` : 'Duplicate value' }
      default:
        // Objects and lists would make the message too long.
        return isScalar
          ? invalid(field, value, detail)
          : { field, reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` }
    }
  }
}

/** Items of keyed lists are matched by key; items of other lists have no old value. */
function oldItem(compiled: CompiledRules, old: JsonValue | undefined): (item: JsonValue) => JsonValue | undefined {
  const keys = compiled.schema['x-kubernetes-list-map-keys']
  if (compiled.schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || !Array.isArray(old)) {
    return () => undefined
  }
  const identityOf = (item: JsonObject) => canonicalJson(keys.map((key) => ownField(item, key) ?? null))
  // Of several with the same key, the first counts.
  const byKey = new Map(
    old
      .filter(isJsonObject)
      .reverse()
      .map((item) => [identityOf(item), item]),
  )
  return (item) => (isJsonObject(item) ? byKey.get(identityOf(item)) : undefined)
}

function ruleScope(self: CelValue, oldSelf: CelValue | undefined): Scope {
  return { get: (name) => (name === 'self' ? self : name === 'oldSelf' ? oldSelf : undefined) }
}

/** The result of `messageExpression`, unless it fails or is empty. */
function messageOf({ patterns }: CompiledRules, rule: CompiledRule, scope: Scope, budget: Budget): string | undefined {
  if (rule.messageExpression === undefined) return undefined
  try {
    const text = evaluateExpression(rule.messageExpression, scope, budget, patterns)
    return typeof text === 'string' && text.trim() !== '' && !text.includes('\n') ? text : undefined
  } catch (error) {
    // If the message cannot be computed, the fixed message is used; the violation is reported either way.
    if (error instanceof CelError || error instanceof CelBudgetError) return undefined
    throw error
  }
}

function ruleError(rule: CompiledRule, value: JsonValue, path: string, error: unknown): FieldError {
  if (!(error instanceof CelError) && !(error instanceof CelBudgetError)) throw error
  const kind = Array.isArray(value) ? 'array' : isJsonObject(value) ? 'object' : jsonType(value)
  const text = rule.source.rule.trim()
  const detail =
    error instanceof CelBudgetError
      ? `call cost exceeds limit for rule: ${text}, no further validation rules will be run`
      : `${error.message} evaluating rule: ${text}`
  return invalid(path, kind, detail)
}

function jsonType(value: JsonValue): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}
