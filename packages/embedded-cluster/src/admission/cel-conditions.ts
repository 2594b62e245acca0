/** Compiles match conditions with the embedded CEL implementation. */
import { Environment } from '@marcbachmann/cel-js'
import { Budget, maxStepsPerRule } from '../cel/budget.ts'
import { checkExpression } from '../cel/check-expression.ts'
import { evaluateExpression } from '../cel/evaluate.ts'
import { celFromJson } from '../cel/from-json.ts'
import { CelAuthorizer } from '../cel/functions/authorization.ts'
import { Patterns } from '../cel/patterns.ts'
import { dyn } from '../cel/static-type.ts'
import type { JsonValue } from '../json.ts'
import type { CompileCondition, ConditionVariables } from './match-conditions.ts'

const names = ['object', 'oldObject', 'request', 'authorizer'] as const

/** Compiles one condition over `object`, `oldObject` and `request`, whose fields are not typed, and `authorizer`. */
export const compileCelCondition: CompileCondition = (expression) => {
  const environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true })
  const { ast } = environment.parse(expression)
  checkExpression(ast, new Map(names.map((name) => [name, dyn])))
  const patterns = new Patterns()
  return (variables) => {
    const scope = { get: (name: string) => variable(variables, name) }
    const result = evaluateExpression(ast, scope, new Budget(maxStepsPerRule), patterns)
    if (typeof result !== 'boolean') throw new Error('a match condition must evaluate to a bool')
    return result
  }
}

function variable(variables: ConditionVariables, name: string) {
  const known = names.find((candidate) => candidate === name)
  if (known === undefined) return undefined
  const value: JsonValue | CelAuthorizer = variables[known]
  return value instanceof CelAuthorizer ? value : celFromJson(undefined, value)
}
