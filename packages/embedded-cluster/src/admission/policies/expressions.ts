/** CEL expressions of policies: compiled once, evaluated with the variables of a request. */
import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { Budget, maxStepsPerObject } from '../../cel/budget.ts'
import { checkExpression, ExpressionError, type StaticScope } from '../../cel/check-expression.ts'
import { evaluateExpression } from '../../cel/evaluate.ts'
import { celFromJson } from '../../cel/from-json.ts'
import { CelAuthorizer } from '../../cel/functions/authorization.ts'
import { Patterns } from '../../cel/patterns.ts'
import { dyn, printType, type StaticType } from '../../cel/static-type.ts'
import type { CelValue } from '../../cel/values.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import type { NamedExpression } from './policy.ts'

/** What expressions can refer to, besides `variables`. */
export interface RequestVariables {
  readonly object: JsonObject | null
  readonly oldObject: JsonObject | null
  readonly request: JsonObject
  readonly params: JsonObject | null
  readonly namespaceObject: JsonObject | null
  /** What the user of the request may do. */
  readonly authorizer: CelAuthorizer
}

const names = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'authorizer', 'variables'] as const

/** Compiles the expressions of one policy. */
export class PolicyExpressions {
  readonly #environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true })
  readonly #patterns = new Patterns()
  readonly #parsed = new Map<string, ASTNode>()

  /** What is wrong with an expression, with its place; `undefined` if nothing is. `hidden` names are not known to it. */
  problemOf(
    text: string,
    types: ReadonlyMap<string, StaticType> = new Map(),
    hidden: readonly string[] = [],
  ): string | undefined {
    let node: ASTNode
    try {
      node = this.#parse(text)
    } catch (error) {
      return located(text, 0, `Syntax error: ${error instanceof Error ? error.message : String(error)}`)
    }
    const known = names.filter((name) => !hidden.includes(name))
    const scope: StaticScope = new Map(known.map((name) => [name, types.get(name) ?? dyn]))
    try {
      checkExpression(node, scope)
      return undefined
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      return located(text, error.position, error.message)
    }
  }

  /**
   * The type of a valid expression if it is certain to differ from `expected`. A field of an object is `dyn`, which no
   * expression may result in; the results of operators on such fields are not known here.
   */
  otherType(text: string, expected: 'bool' | 'string'): string | undefined {
    const node = this.#parse(text)
    const type = checkExpression(node, new Map(names.map((name) => [name, dyn])))
    if (type.kind !== 'dyn') return type.kind === expected ? undefined : printType(type)
    const isField = node.op === '.' || node.op === '[]' || node.op === 'id'
    return isField && !/\bvariables\b/.test(text) ? 'dyn' : undefined
  }

  /** Evaluates expressions for one request, which share their variables and one budget. */
  forRequest(request: RequestVariables, variables: readonly NamedExpression[]): (text: string) => CelValue {
    const budget = new Budget(maxStepsPerObject)
    const values = new Map<string, CelValue>()
    const lazy = new LazyVariables(variables, (text) => evaluate(text))
    const known = (name: string): CelValue | undefined => {
      if (name === 'variables') return lazy
      if (!values.has(name) && name in request) {
        // The names of a request are its own fields.
        const value: JsonValue | CelAuthorizer = request[name as keyof RequestVariables]
        values.set(name, value instanceof CelAuthorizer ? value : celFromJson(undefined, value))
      }
      return values.get(name)
    }
    const evaluate = (text: string) => evaluateExpression(this.#parse(text), { get: known }, budget, this.#patterns)
    return evaluate
  }

  #parse(text: string): ASTNode {
    const known = this.#parsed.get(text)
    if (known !== undefined) return known
    const { ast } = this.#environment.parse(text)
    this.#parsed.set(text, ast)
    return ast
  }
}

/** A variable is evaluated when an expression first uses it, so that an unused one cannot fail. */
class LazyVariables extends Map<CelValue, CelValue> {
  readonly #expressions: ReadonlyMap<CelValue, string>
  readonly #evaluate: (text: string) => CelValue

  constructor(variables: readonly NamedExpression[], evaluate: (text: string) => CelValue) {
    super()
    this.#expressions = new Map(variables.map(({ name, expression }) => [name, expression]))
    this.#evaluate = evaluate
  }

  override has(name: CelValue): boolean {
    return this.#expressions.has(name)
  }

  override get(name: CelValue): CelValue | undefined {
    const expression = this.#expressions.get(name)
    if (expression === undefined) return undefined
    if (!super.has(name)) super.set(name, this.#evaluate(expression))
    return super.get(name)
  }
}

/** The message with line, column and the line itself. */
function located(text: string, position: number, message: string): string {
  const before = text.slice(0, position).split('\n')
  const column = (before.at(-1) ?? '').length
  const source = text.split('\n')[before.length - 1] ?? ''
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${source}\n | ${'.'.repeat(column)}^`
}
