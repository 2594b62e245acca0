/** The CEL rules of custom resources: compiled when a definition is written, evaluated when an object is. */
import { isJsonObject, type JsonObject } from '../json.ts'
import type { RuleValidator } from '../registry/resource-info.ts'
import type { Schema } from '../schema/schema.ts'
import type { FieldError } from '../status-error.ts'

/** Compiles rules. */
export interface RuleEngine {
  /** Errors of the rules in a schema at `path` of its definition. */
  check(schema: JsonObject, path: string): readonly FieldError[]
  /** The validator of a schema whose rules compile. */
  validator(schema: JsonObject): RuleValidator | undefined
}

/** Whether a schema has rules anywhere. */
export function hasRules(schema: JsonObject | undefined): boolean {
  if (schema === undefined) return false
  if (Array.isArray(schema['x-kubernetes-validations'])) return true
  const { properties, items, additionalProperties } = schema
  const parts = [items, additionalProperties, ...(isJsonObject(properties) ? Object.values(properties) : [])]
  return parts.some((part) => isJsonObject(part) && hasRules(part))
}

let loaded: RuleEngine | undefined

/** The engine if a cluster of this process has loaded it already: a definition need not wait for it then. */
export function loadedRuleEngine(): RuleEngine | undefined {
  return loaded
}

/** Imports the engine lazily: most clusters never need it, and importing it takes longer than compiling all rules. */
export async function loadRuleEngine(): Promise<RuleEngine> {
  const { compileRules } = await import('../cel/compile-rules.ts')
  const { evaluateRules, rulesNotChecked } = await import('../cel/evaluate-rules.ts')
  loaded ??= {
    // Definitions are checked to be structural before their rules are compiled.
    check: (schema, path) => compileRules(schema as Schema, path).errors,
    validator: (schema) => {
      const { rules } = compileRules(schema as Schema)
      if (rules === undefined) return undefined
      return (object, old, schemaErrors) => {
        const unchecked = rulesNotChecked(schemaErrors)
        return unchecked === undefined ? evaluateRules(rules, object, old) : [unchecked]
      }
    },
  }
  return loaded
}
