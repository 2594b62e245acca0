/** CEL's macros: expressions whose arguments are not simply evaluated. */
import type { ASTNode } from '@marcbachmann/cel-js'
import { CelError, noSuchOverload } from './cel-error.ts'
import { bind, type Evaluator, type Scope } from './scope.ts'
import { CelOptional, type CelValue } from './values.ts'

/** One iteration of a loop: the scope with its variables bound. */
type Iteration = Scope

/** A loop over a list or map. */
interface Loop {
  readonly iterations: readonly Iteration[]
  /** Index or key of each iteration. */
  readonly keys: readonly CelValue[]
  /** The value of a single loop variable in each iteration. */
  readonly items: readonly CelValue[]
  readonly run: (body: ASTNode, iteration: Iteration) => CelValue
}

type LoopMacro = (loop: Loop, bodies: readonly ASTNode[]) => CelValue

/** Macros with one variable: the item of a list, the key of a map. */
const oneVariable: Readonly<Record<string, { readonly bodies: readonly number[]; readonly run: LoopMacro }>> = {
  all: { bodies: [1], run: (loop, bodies) => quantify(loop, bodies, false) },
  exists: { bodies: [1], run: (loop, bodies) => quantify(loop, bodies, true) },
  exists_one: { bodies: [1], run: existsOne },
  existsOne: { bodies: [1], run: existsOne },
  filter: { bodies: [1], run: filter },
  map: { bodies: [1, 2], run: map },
}

/** Macros with two variables: index and item of a list, key and value of a map. */
const twoVariables: typeof oneVariable = {
  all: { bodies: [1], run: (loop, bodies) => quantify(loop, bodies, false) },
  exists: { bodies: [1], run: (loop, bodies) => quantify(loop, bodies, true) },
  exists_one: { bodies: [1], run: existsOne },
  existsOne: { bodies: [1], run: existsOne },
  transformList: { bodies: [1, 2], run: map },
  transformMap: { bodies: [1, 2], run: transformMap },
  transformMapEntry: { bodies: [1, 2], run: transformMapEntry },
}

/** The form of a macro, for the static check: variables it binds and expressions it evaluates with them. */
export interface MacroShape {
  readonly variables: readonly string[]
  readonly bodies: readonly ASTNode[]
}

/** The shape of a loop macro, or `undefined` when the call is not a loop macro. */
export function loopShape(name: string, args: readonly ASTNode[]): MacroShape | undefined {
  const names = args.map((argument) => (argument.op === 'id' ? argument.args : undefined))
  const [first, second] = names
  if (first === undefined) return undefined
  const two = Object.hasOwn(twoVariables, name) ? twoVariables[name] : undefined
  // `map(x, filter, body)` also has three arguments, but only one variable.
  if (second !== undefined && two?.bodies.includes(args.length - 2) && name !== 'map' && name !== 'filter') {
    return { variables: [first, second], bodies: args.slice(2) }
  }
  const one = Object.hasOwn(oneVariable, name) ? oneVariable[name] : undefined
  return one?.bodies.includes(args.length - 1) ? { variables: [first], bodies: args.slice(1) } : undefined
}

/** The value of a macro call, or `undefined` when it is an ordinary call. */
export function evaluateMacro(
  name: string,
  receiver: ASTNode | undefined,
  args: readonly ASTNode[],
  scope: Scope,
  evaluator: Evaluator,
): CelValue | undefined {
  const [first, second] = args
  if (receiver === undefined) return name === 'has' && first !== undefined ? has(first, scope, evaluator) : undefined
  if ((name === 'optMap' || name === 'optFlatMap') && first?.op === 'id' && second !== undefined) {
    return mapOptional(name, evaluator.run(receiver, scope), first.args, second, scope, evaluator)
  }
  const shape = loopShape(name, args)
  if (shape === undefined) return undefined
  const table = shape.variables.length === 2 ? twoVariables : oneVariable
  return table[name]?.run(startLoop(evaluator.run(receiver, scope), shape.variables, scope, evaluator), shape.bodies)
}

/** Whether a field exists. Only the last segment may be missing. */
function has(path: ASTNode, scope: Scope, evaluator: Evaluator): boolean {
  if (path.op !== '.' && path.op !== '.?') throw new CelError('invalid argument to has() macro')
  const container = evaluator.run(path.args[0], scope)
  const value = container instanceof CelOptional ? container.value : container
  if (value === undefined) return false
  if (!(value instanceof Map)) throw noSuchOverload('has', [value])
  return value.has(path.args[1])
}

function mapOptional(
  name: string,
  optional: CelValue,
  variable: string,
  body: ASTNode,
  scope: Scope,
  evaluator: Evaluator,
): CelValue {
  if (!(optional instanceof CelOptional)) throw noSuchOverload(name, [optional])
  if (optional.value === undefined) return optional
  const result = evaluator.run(body, bind(scope, variable, optional.value))
  return name === 'optMap' ? new CelOptional(result) : result
}

function startLoop(range: CelValue, variables: readonly string[], scope: Scope, evaluator: Evaluator): Loop {
  if (!Array.isArray(range) && !(range instanceof Map)) throw noSuchOverload('comprehension', [range])
  const [first = '', second] = variables
  const entries: (readonly [CelValue, CelValue])[] = Array.isArray(range)
    ? range.map((item, index) => [BigInt(index), item])
    : [...range]
  evaluator.budget.spend(entries.length)
  return {
    keys: entries.map(([key]) => key),
    items: entries.map(([key, value]) => (Array.isArray(range) ? value : key)),
    iterations: entries.map(([key, value]) => {
      if (second !== undefined) return bind(bind(scope, first, key), second, value)
      return bind(scope, first, Array.isArray(range) ? value : key)
    }),
    run: (body, iteration) => evaluator.run(body, iteration),
  }
}

/** `all` and `exists`: if one item determines the result, errors on other items are ignored. */
function quantify(loop: Loop, [body]: readonly ASTNode[], decisive: boolean): boolean {
  if (body === undefined) return !decisive
  let failure: CelError | undefined
  for (const iteration of loop.iterations) {
    try {
      if (predicate(loop, body, iteration) === decisive) return decisive
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return !decisive
}

function predicate(loop: Loop, body: ASTNode, iteration: Iteration): boolean {
  const result = loop.run(body, iteration)
  if (typeof result !== 'boolean') throw noSuchOverload('predicate', [result])
  return result
}

function existsOne(loop: Loop, [body]: readonly ASTNode[]): boolean {
  return body !== undefined && loop.iterations.filter((iteration) => predicate(loop, body, iteration)).length === 1
}

function filter(loop: Loop, [body]: readonly ASTNode[]): CelValue {
  return loop.items.filter((_, index) => {
    const iteration = loop.iterations[index]
    return body !== undefined && iteration !== undefined && predicate(loop, body, iteration)
  })
}

function map(loop: Loop, bodies: readonly ASTNode[]): CelValue {
  return selected(loop, bodies).map(([, value]) => value)
}

function transformMap(loop: Loop, bodies: readonly ASTNode[]): CelValue {
  return new Map(selected(loop, bodies))
}

function transformMapEntry(loop: Loop, bodies: readonly ASTNode[]): CelValue {
  const entries = selected(loop, bodies).flatMap(([, value]) => (value instanceof Map ? [...value] : []))
  return new Map(entries)
}

/** Transformed values under their keys, for entries that pass the filter if there is one. */
function selected(loop: Loop, bodies: readonly ASTNode[]): [CelValue, CelValue][] {
  const transform = bodies.at(-1)
  const condition = bodies.length > 1 ? bodies[0] : undefined
  if (transform === undefined) return []
  return loop.iterations.flatMap((iteration, index): [CelValue, CelValue][] => {
    if (condition !== undefined && !predicate(loop, condition, iteration)) return []
    return [[loop.keys[index] ?? null, loop.run(transform, iteration)]]
  })
}
