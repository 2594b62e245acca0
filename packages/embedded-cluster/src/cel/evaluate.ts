/** Evaluates parsed CEL expressions. */
import type { ASTNode } from '@marcbachmann/cel-js'
import type { Budget } from './budget.ts'
import { CelError, noSuchOverload } from './cel-error.ts'
import { cost, equalityCost, searchCost } from './cost.ts'
import { functionNamed } from './functions/function-table.ts'
import { evaluateMacro } from './macros.ts'
import { arithmetic, isIn, lookup, negated, relation } from './operators.ts'
import { Patterns } from './patterns.ts'
import type { Evaluator, Scope } from './scope.ts'
import { CelOptional, CelType, CelUint, type CelValue, celEqual, typeName } from './values.ts'

/** Names of types, which are also values. */
const typeNames = new Set(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'])

/**
 * The value of an expression.
 *
 * *Errors*: CelError when evaluation fails for these inputs, CelBudgetError when it takes too many steps.
 */
export function evaluateExpression(
  expression: ASTNode,
  scope: Scope,
  budget: Budget,
  patterns = new Patterns(),
): CelValue {
  const evaluator: Evaluator = { budget, patterns, run: (node, inner) => evaluate(node, inner, evaluator) }
  return evaluate(expression, scope, evaluator)
}

function evaluate(node: ASTNode, scope: Scope, evaluator: Evaluator): CelValue {
  evaluator.budget.spend()
  switch (node.op) {
    case 'value':
      return literal(node.args)
    case 'id':
      return variable(node.args, scope)
    case '.':
      return member(evaluate(node.args[0], scope, evaluator), node.args[1])
    case '.?':
      return optionalMember(evaluate(node.args[0], scope, evaluator), node.args[1])
    case '[]':
      return member(evaluate(node.args[0], scope, evaluator), evaluate(node.args[1], scope, evaluator))
    case '[?]':
      return optionalMember(evaluate(node.args[0], scope, evaluator), evaluate(node.args[1], scope, evaluator))
    case 'call':
      return call(node.args[0], undefined, node.args[1], scope, evaluator)
    case 'rcall':
      return call(node.args[0], node.args[1], node.args[2], scope, evaluator)
    case 'list':
      return node.args.map((item) => evaluate(item, scope, evaluator))
    case 'map':
      return new Map(
        node.args.map(([key, value]) => [evaluate(key, scope, evaluator), evaluate(value, scope, evaluator)]),
      )
    case '?:':
      return conditional(node.args, scope, evaluator)
    case '||':
      return logical(true, node.args, scope, evaluator)
    case '&&':
      return logical(false, node.args, scope, evaluator)
    case '!_': {
      const operand = evaluate(node.args, scope, evaluator)
      if (typeof operand !== 'boolean') throw noSuchOverload('!_', [operand])
      return !operand
    }
    case '-_':
      return negated(evaluate(node.args, scope, evaluator))
    default:
      return binary(node, scope, evaluator)
  }
}

function literal(value: unknown): CelValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return value
  if (typeof value === 'number' || typeof value === 'string' || value instanceof Uint8Array) return value
  // The only other literal is the parser's class of unsigned integers.
  return new CelUint(BigInt(String(value)))
}

function variable(name: string, scope: Scope): CelValue {
  const value = scope.get(name)
  if (value !== undefined) return value
  if (typeNames.has(name)) return new CelType(name)
  throw new CelError(`no such attribute: ${name}`)
}

function member(container: CelValue, key: CelValue): CelValue {
  if (container instanceof CelOptional) return optionalMember(container, key)
  const found = lookup(container, key)
  if (found !== undefined) return found
  throw new CelError(Array.isArray(container) ? `index out of bounds: ${String(key)}` : `no such key: ${String(key)}`)
}

function optionalMember(container: CelValue, key: CelValue): CelOptional {
  const value = container instanceof CelOptional ? container.value : container
  return new CelOptional(value === undefined ? undefined : lookup(value, key))
}

function conditional([condition, yes, no]: [ASTNode, ASTNode, ASTNode], scope: Scope, evaluator: Evaluator): CelValue {
  const chosen = evaluate(condition, scope, evaluator)
  if (typeof chosen !== 'boolean') throw noSuchOverload('_?_:_', [chosen])
  return evaluate(chosen ? yes : no, scope, evaluator)
}

/** `||` and `&&`: if one side determines the result, an error of the other is ignored. */
function logical(decisive: boolean, [left, right]: [ASTNode, ASTNode], scope: Scope, evaluator: Evaluator): boolean {
  const attempt = (node: ASTNode): CelValue | CelError => {
    try {
      return evaluate(node, scope, evaluator)
    } catch (error) {
      if (error instanceof CelError) return error
      throw error
    }
  }
  const first = attempt(left)
  if (first === decisive) return decisive
  const second = attempt(right)
  if (second === decisive) return decisive
  for (const side of [first, second]) {
    if (side instanceof CelError) throw side
    if (typeof side !== 'boolean') throw noSuchOverload(decisive ? '_||_' : '_&&_', [side])
  }
  return !decisive
}

function binary(
  node: Extract<ASTNode, { op: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%' }>,
  scope: Scope,
  evaluator: Evaluator,
): CelValue {
  const left = evaluate(node.args[0], scope, evaluator)
  const right = evaluate(node.args[1], scope, evaluator)
  const { budget } = evaluator
  switch (node.op) {
    case '==':
      budget.spend(equalityCost(left, right, budget.left))
      return celEqual(left, right)
    case '!=':
      budget.spend(equalityCost(left, right, budget.left))
      return !celEqual(left, right)
    case 'in':
      if (Array.isArray(right)) budget.spend(searchCost(left, right, budget.left))
      return isIn(left, right)
    case '<':
    case '<=':
    case '>':
    case '>=':
      budget.spend(cost(left) + cost(right))
      return relation(node.op, left, right)
    default:
      budget.spend(cost(left) + cost(right))
      return arithmetic(node.op, left, right)
  }
}

function call(
  name: string,
  receiver: ASTNode | undefined,
  argumentNodes: readonly ASTNode[],
  scope: Scope,
  evaluator: Evaluator,
): CelValue {
  const macro = evaluateMacro(name, receiver, argumentNodes, scope, evaluator)
  if (macro !== undefined) return macro
  const namespaced =
    receiver?.op === 'id' && scope.get(receiver.args) === undefined ? `${receiver.args}.${name}` : undefined
  const inNamespace = namespaced === undefined ? undefined : functionNamed('namespaced', namespaced)
  const values = argumentNodes.map((argument) => evaluate(argument, scope, evaluator))
  const all =
    receiver === undefined || inNamespace !== undefined ? values : [evaluate(receiver, scope, evaluator), ...values]
  const found = inNamespace ?? functionNamed(receiver === undefined ? 'global' : 'method', name)
  if (found === undefined) throw new CelError(`no such function: ${name}`)
  const { budget } = evaluator
  if (!found.isCheap) budget.spend(all.reduce<number>((sum, value) => sum + cost(value), 0))
  const result = computed(name, () => found.call(all, evaluator))
  if (result === undefined) throw new CelError(`no such overload: ${name}(${all.map(typeName).join(', ')})`)
  if (!found.isCheap) budget.spend(cost(result))
  return result
}

/** Numbers and texts beyond what JavaScript can hold are the rule's mistake, not the server's. */
function computed<T>(name: string, compute: () => T): T {
  try {
    return compute()
  } catch (error) {
    throw error instanceof RangeError ? new CelError(`${name}: ${error.message}`) : error
  }
}
