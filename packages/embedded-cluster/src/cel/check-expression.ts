/** Checks an expression statically: unknown names and fields, operand types that have no overload. */
import type { ASTNode } from '@marcbachmann/cel-js'
import { functionNamed } from './functions/function-table.ts'
import { loopShape } from './macros.ts'
import { dyn, printType, type StaticType, scalar, typeOfSchema } from './static-type.ts'

/** An error in an expression, with its position in the source. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  readonly code = 'INVALID_CEL'
  /** Offset in the source. */
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.position = position
  }
}

/** The types of the names that an expression may use. */
export type StaticScope = ReadonlyMap<string, StaticType>

const typeNames = new Set(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'])
const orderedKinds = new Set(['bool', 'string', 'bytes', 'timestamp', 'duration'])
const numericKinds = new Set(['int', 'uint', 'double'])

/**
 * The static type of an expression.
 *
 * *Guarantees*: rejects only what is certain to fail; errors that depend on values are left to evaluation.
 *
 * *Errors*: ExpressionError at the first error.
 */
export function checkExpression(node: ASTNode, scope: StaticScope): StaticType {
  switch (node.op) {
    case 'value':
      return literalType(node.args)
    case 'id': {
      const known = scope.get(node.args)
      if (known !== undefined) return known
      if (typeNames.has(node.args)) return scalar('type')
      throw new ExpressionError(`undeclared reference to '${node.args}' (in container '')`, node.start)
    }
    case '.':
    case '.?':
      return memberType(node, scope)
    case '[]':
    case '[?]':
      return indexType(node, scope)
    case 'call':
      return callType(node.args[0], undefined, node.args[1], node, scope)
    case 'rcall':
      return callType(node.args[0], node.args[1], node.args[2], node, scope)
    case 'list': {
      const [first = dyn, ...rest] = node.args.map((item) => checkExpression(item, scope))
      return { kind: 'list', items: rest.every((type) => type.kind === first.kind) ? first : dyn }
    }
    case 'map':
      for (const [key, value] of node.args) {
        checkExpression(key, scope)
        checkExpression(value, scope)
      }
      return { kind: 'map', keys: dyn, values: dyn }
    case '?:': {
      requireBool(checkExpression(node.args[0], scope), '_?_:_', node)
      const yes = checkExpression(node.args[1], scope)
      const no = checkExpression(node.args[2], scope)
      return yes.kind === no.kind ? yes : dyn
    }
    case '||':
    case '&&':
      for (const operand of node.args) requireBool(checkExpression(operand, scope), `_${node.op}_`, node)
      return scalar('bool')
    case '!_':
      requireBool(checkExpression(node.args, scope), '!_', node)
      return scalar('bool')
    case '-_':
      return checkExpression(node.args, scope)
    default:
      return binaryType(node, scope)
  }
}

function literalType(value: unknown): StaticType {
  if (value === null) return scalar('null')
  if (typeof value === 'boolean') return scalar('bool')
  if (typeof value === 'bigint') return scalar('int')
  if (typeof value === 'number') return scalar('double')
  if (typeof value === 'string') return scalar('string')
  return scalar(value instanceof Uint8Array ? 'bytes' : 'uint')
}

function memberType(node: Extract<ASTNode, { op: '.' | '.?' }>, scope: StaticScope): StaticType {
  const [containerNode, name] = node.args
  const checked = checkExpression(containerNode, scope)
  const isOptional = checked.kind === 'optional' || node.op === '.?'
  const container = checked.kind === 'optional' ? checked.value : checked
  const wrap = (type: StaticType): StaticType => (isOptional ? { kind: 'optional', value: type } : type)
  if (container.kind === 'map') return wrap(container.values)
  if (container.kind === 'object') {
    const field = container.fields(name)
    if (field === undefined) throw new ExpressionError(`undefined field '${name}'`, containerNode.end)
    return wrap(typeOfSchema(field))
  }
  if (container.kind === 'dyn') return wrap(dyn)
  throw new ExpressionError(`type '${printType(container)}' does not support field selection`, containerNode.end)
}

function indexType(node: Extract<ASTNode, { op: '[]' | '[?]' }>, scope: StaticScope): StaticType {
  const checked = checkExpression(node.args[0], scope)
  checkExpression(node.args[1], scope)
  const container = checked.kind === 'optional' ? checked.value : checked
  const item = container.kind === 'list' ? container.items : container.kind === 'map' ? container.values : dyn
  return checked.kind === 'optional' || node.op === '[?]' ? { kind: 'optional', value: item } : item
}

function requireBool(type: StaticType, operator: string, node: ASTNode): void {
  if (type.kind === 'bool' || type.kind === 'dyn') return
  throw noOverload(operator, [type], node.start)
}

function noOverload(name: string, types: readonly StaticType[], position: number): ExpressionError {
  const list = types.map(printType).join(', ')
  return new ExpressionError(`found no matching overload for '${name}' applied to '(${list})'`, position)
}

function callType(
  name: string,
  receiver: ASTNode | undefined,
  args: readonly ASTNode[],
  node: ASTNode,
  scope: StaticScope,
): StaticType {
  const macro = macroType(name, receiver, args, scope)
  if (macro !== undefined) return macro
  for (const argument of args) checkExpression(argument, scope)
  const namespace = receiver?.op === 'id' && !scope.has(receiver.args) ? receiver.args : undefined
  const found =
    namespace === undefined
      ? functionNamed(receiver === undefined ? 'global' : 'method', name)
      : functionNamed('namespaced', `${namespace}.${name}`)
  if (receiver !== undefined && namespace === undefined) checkExpression(receiver, scope)
  if (found !== undefined) return found.result
  if (receiver !== undefined && namespace !== undefined) {
    throw new ExpressionError(`undeclared reference to '${namespace}' (in container '')`, receiver.start)
  }
  const position = receiver === undefined ? node.start + name.length : receiver.end + 1 + name.length
  throw new ExpressionError(`undeclared reference to '${name}' (in container '')`, position)
}

function macroType(
  name: string,
  receiver: ASTNode | undefined,
  args: readonly ASTNode[],
  scope: StaticScope,
): StaticType | undefined {
  const [first, second] = args
  if (receiver === undefined) {
    if (name !== 'has' || first === undefined) return undefined
    if (first.op !== '.' && first.op !== '.?') throw new ExpressionError('invalid argument to has() macro', first.start)
    checkExpression(first, scope)
    return scalar('bool')
  }
  if ((name === 'optMap' || name === 'optFlatMap') && first?.op === 'id' && second !== undefined) {
    const optional = checkExpression(receiver, scope)
    const inner = new Map([...scope, [first.args, optional.kind === 'optional' ? optional.value : dyn]])
    const result = checkExpression(second, inner)
    return name === 'optMap' ? { kind: 'optional', value: result } : result
  }
  return loopType(name, receiver, args, scope)
}

function loopType(
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
  scope: StaticScope,
): StaticType | undefined {
  const shape = loopShape(name, args)
  if (shape === undefined) return undefined
  const range = checkExpression(receiver, scope)
  if (range.kind !== 'list' && range.kind !== 'map' && range.kind !== 'dyn') {
    const detail = `expression of type '${printType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`
    throw new ExpressionError(detail, receiver.start)
  }
  const key = range.kind === 'map' ? range.keys : range.kind === 'list' ? scalar('int') : dyn
  const value = range.kind === 'map' ? range.values : range.kind === 'list' ? range.items : dyn
  const [firstName = '', secondName] = shape.variables
  const inner = new Map(scope)
  inner.set(firstName, secondName !== undefined || range.kind === 'map' ? key : value)
  if (secondName !== undefined) inner.set(secondName, value)
  const types = shape.bodies.map((body) => checkExpression(body, inner))
  if (name === 'filter') return { kind: 'list', items: inner.get(firstName) ?? dyn }
  if (name === 'map' || name === 'transformList') return { kind: 'list', items: types.at(-1) ?? dyn }
  return name.startsWith('transform') ? { kind: 'map', keys: dyn, values: dyn } : scalar('bool')
}

function binaryType(
  node: Extract<ASTNode, { op: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%' }>,
  scope: StaticScope,
): StaticType {
  const left = checkExpression(node.args[0], scope)
  const right = checkExpression(node.args[1], scope)
  const isKnown = left.kind !== 'dyn' && right.kind !== 'dyn'
  if (isKnown && !canCombine(node.op, left, right)) {
    const between = node.input.slice(node.args[0].end, node.args[1].start)
    throw noOverload(
      node.op === 'in' ? '@in' : `_${node.op}_`,
      [left, right],
      node.args[0].end + Math.max(0, between.indexOf(node.op)),
    )
  }
  if (['==', '!=', '<', '<=', '>', '>=', 'in'].includes(node.op)) return scalar('bool')
  if (!isKnown) return dyn
  if (left.kind === 'timestamp' && right.kind === 'timestamp') return scalar('duration')
  return right.kind === 'timestamp' ? right : left
}

function canCombine(op: string, left: StaticType, right: StaticType): boolean {
  const same = left.kind === right.kind
  switch (op) {
    case '==':
    case '!=':
      return same
    case 'in':
      return right.kind === 'list' || right.kind === 'map'
    case '<':
    case '<=':
    case '>':
    case '>=':
      return (same && orderedKinds.has(left.kind)) || (numericKinds.has(left.kind) && numericKinds.has(right.kind))
    case '%':
      return same && (left.kind === 'int' || left.kind === 'uint')
    default:
      return (same && numericKinds.has(left.kind)) || canAdd(op, left, right)
  }
}

/** `+` and `-` for types other than numbers. */
function canAdd(op: string, left: StaticType, right: StaticType): boolean {
  const same = left.kind === right.kind
  const times = `${left.kind} ${right.kind}`
  if (op === '+') {
    return (
      (same && ['string', 'bytes', 'list', 'duration'].includes(left.kind)) ||
      times === 'timestamp duration' ||
      times === 'duration timestamp'
    )
  }
  return op === '-' && ['duration duration', 'timestamp duration', 'timestamp timestamp'].includes(times)
}
