/** Compiles the `x-kubernetes-validations` of a schema when its definition is created. */
import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { invalid, notSupported, required } from '../schema/field-error.ts'
import { PatternChecker } from '../schema/patterns.ts'
import type { Schema } from '../schema/schema.ts'
import type { FieldError } from '../status-error.ts'
import { checkExpression, ExpressionError, type StaticScope } from './check-expression.ts'
import { Patterns } from './patterns.ts'
import { dyn, type StaticType, typeOfSchema } from './static-type.ts'

type RuleSource = NonNullable<Schema['x-kubernetes-validations']>[number]

/** One compiled rule. */
export interface CompiledRule {
  readonly source: RuleSource
  readonly expression: ASTNode
  readonly messageExpression: ASTNode | undefined
  /** Whether the rule refers to `oldSelf`; such a rule is only evaluated on updates. */
  readonly usesOldSelf: boolean
}

/** The rules of a schema and of everything below it. Parts without rules are omitted. */
export interface CompiledRules {
  readonly schema: Schema
  readonly rules: readonly CompiledRule[]
  readonly fields: ReadonlyMap<string, CompiledRules>
  readonly items: CompiledRules | undefined
  readonly entries: CompiledRules | undefined
  /** Shared by all rules of a definition, and kept as long as the definition. */
  readonly patterns: Patterns
}

/** The result of compiling: the rules to evaluate, if any, and the errors of the definition, if any. */
export interface RuleCompilation {
  readonly rules: CompiledRules | undefined
  readonly errors: readonly FieldError[]
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/**
 * Compiles every rule of a schema.
 *
 * *Guarantees*: compiled rules can be evaluated. Rules are not rejected for their estimated cost; evaluation has a
 * limit instead.
 *
 * @param path the path of the schema in the definition
 */
export function compileRules(schema: Schema, path = 'spec.validation.openAPIV3Schema'): RuleCompilation {
  const compiler = new Compiler()
  const rules = compiler.compile(schema, path, true)
  return { rules, errors: compiler.errors }
}

class Compiler {
  readonly errors: FieldError[] = []
  readonly #patterns = new Patterns()
  readonly #patternChecker = new PatternChecker()
  readonly #environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true })

  compile(schema: Schema, path: string, isRoot: boolean): CompiledRules | undefined {
    const rules = (schema['x-kubernetes-validations'] ?? []).flatMap((source, index) => {
      const rule = this.#rule(schema, source, `${path}.x-kubernetes-validations[${index}]`, isRoot)
      return rule === undefined ? [] : [rule]
    })
    const fields = new Map<string, CompiledRules>()
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const below = this.compile(field, `${path}.properties[${name}]`, false)
      if (below !== undefined) fields.set(name, below)
    }
    const { items, additionalProperties } = schema
    const itemRules = items === undefined ? undefined : this.compile(items, `${path}.items`, false)
    const entryRules =
      typeof additionalProperties === 'object'
        ? this.compile(additionalProperties, `${path}.additionalProperties`, false)
        : undefined
    if (rules.length === 0 && fields.size === 0 && itemRules === undefined && entryRules === undefined) return undefined
    return {
      schema: isRoot ? withTypeMeta(schema) : schema,
      rules,
      fields,
      items: itemRules,
      entries: entryRules,
      patterns: this.#patterns,
    }
  }

  #rule(schema: Schema, source: RuleSource, path: string, isRoot: boolean): CompiledRule | undefined {
    const problems = this.errors.length
    this.#checkDeclaration(schema, source, path)
    if (this.errors.length > problems) return undefined
    const self = typeOfSchema(isRoot ? withTypeMeta(schema) : schema)
    const expression = this.#expression(source, 'rule', source.rule, self, path, 'bool')
    if (expression === undefined) return undefined
    const usesOldSelf = mentions(expression, 'oldSelf')
    let messageExpression: ASTNode | undefined
    if (source.messageExpression !== undefined) {
      messageExpression = this.#expression(source, 'messageExpression', source.messageExpression, self, path, 'string')
      if (messageExpression === undefined) return undefined
    }
    return { source, expression, messageExpression, usesOldSelf }
  }

  #checkDeclaration(schema: Schema, source: RuleSource, path: string): void {
    const { rule, message, reason, fieldPath } = source
    if (typeof rule !== 'string' || rule.trim() === '') {
      this.errors.push(required(`${path}.rule`, 'rule is not specified'))
      return
    }
    if (rule.trim().includes('\n') && (message ?? '') === '') {
      this.errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
    }
    if (message !== undefined) {
      if (message !== '' && message.trim() === '') {
        this.errors.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'))
      } else if (message.includes('\n')) {
        this.errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'))
      }
    }
    if (reason !== undefined && !reasons.includes(reason)) {
      this.errors.push(notSupported(`${path}.reason`, reason, reasons))
    }
    if (fieldPath !== undefined && parseFieldPath(schema, fieldPath) === undefined) {
      this.errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
    }
  }

  #expression(
    source: RuleSource,
    field: 'rule' | 'messageExpression',
    text: string,
    self: StaticType,
    path: string,
    expected: 'bool' | 'string',
  ): ASTNode | undefined {
    const addError = (detail: string): undefined => {
      this.errors.push({
        ...invalid(`${path}.${field}`, null, ''),
        message: `Invalid value: ${shownRule(source)}: ${detail}`,
      })
      return undefined
    }
    let node: ASTNode
    try {
      node = this.#environment.parse(text).ast
    } catch (error) {
      return addError(`compilation failed: ${located(text, positionOf(error), `Syntax error: ${reasonOf(error)}`)}`)
    }
    const oldSelf: StaticType = source.optionalOldSelf ? { kind: 'optional', value: self } : self
    const scope: StaticScope = new Map([
      ['self', self],
      ['oldSelf', oldSelf],
    ])
    try {
      const type = checkExpression(node, scope)
      if (type.kind !== expected && type !== dyn && type.kind !== 'dyn') {
        return addError(`${field === 'rule' ? 'cel expression' : 'messageExpression'} must evaluate to a ${expected}`)
      }
      const badPattern = findBadPattern(node, this.#patternChecker)
      if (badPattern !== undefined)
        return addError(`compilation failed: ${located(text, badPattern.position, badPattern.message)}`)
      return node
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      return addError(`compilation failed: ${located(text, error.position, error.message)}`)
    }
  }
}

/** At the root of an object, expressions see its kind and name in addition to the declared fields. */
function withTypeMeta(schema: Schema): Schema {
  const text: Schema = { type: 'string' }
  const metadata: Schema = { type: 'object', properties: { name: text, generateName: text } }
  return { ...schema, properties: { apiVersion: text, kind: text, ...schema.properties, metadata } }
}

/** The segments of a rule's `fieldPath`, or `undefined` when the schema has no such field. */
export function parseFieldPath(schema: Schema, path: string): string | undefined {
  let current: Schema | undefined = schema
  let shown = ''
  let rest = path
  while (rest !== '') {
    const match: RegExpExecArray | null = /^(?:\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest)
    if (match === null || current === undefined) return undefined
    const name: string = match[1] ?? match[2]?.replaceAll(/\\(.)/g, '$1') ?? ''
    const field: Schema | undefined = current.properties?.[name]
    const entry: Schema | boolean | undefined = current.additionalProperties
    if (field !== undefined) shown += `.${name}`
    else if (typeof entry === 'object') shown += `[${name}]`
    else return undefined
    current = field ?? (typeof entry === 'object' ? entry : undefined)
    rest = rest.slice(match[0].length)
  }
  return shown === '' ? undefined : shown
}

function mentions(node: ASTNode, name: string): boolean {
  if (node.op === 'id') return node.args === name
  return childrenOf(node).some((child) => mentions(child, name))
}

/** The direct subexpressions of an expression. */
function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case '!_':
    case '-_':
      return [node.args]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'map':
      return node.args.flat()
    default:
      return node.args
  }
}

/** A literal pattern that RE2 does not accept is an error of the rule, not of every object it is applied to. */
function findBadPattern(
  node: ASTNode,
  checker: PatternChecker,
): { readonly position: number; readonly message: string } | undefined {
  if (node.op === 'rcall' && ['matches', 'find', 'findAll'].includes(node.args[0])) {
    const [pattern] = node.args[2]
    const problem =
      pattern?.op === 'value' && typeof pattern.args === 'string' ? checker.problemOf(pattern.args) : undefined
    if (pattern !== undefined && problem !== undefined) {
      return { position: pattern.start, message: `invalid matches argument: ${problem}` }
    }
  }
  for (const child of childrenOf(node)) {
    const found = findBadPattern(child, checker)
    if (found !== undefined) return found
  }
  return undefined
}

function shownRule(source: RuleSource): string {
  const { rule, message, messageExpression, reason, fieldPath, optionalOldSelf } = source
  const text = JSON.stringify({
    Rule: rule,
    Message: message ?? '',
    MessageExpression: messageExpression ?? '',
    Reason: reason ?? null,
    FieldPath: fieldPath ?? '',
    OptionalOldSelf: optionalOldSelf ?? null,
  })
  return text.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026')
}

/** The message with line, column and the line itself. */
function located(text: string, position: number, message: string): string {
  const before = text.slice(0, position).split('\n')
  const line = before.length
  const column = (before.at(-1) ?? '').length
  const source = text.split('\n')[line - 1] ?? ''
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${source}\n | ${'.'.repeat(column)}^`
}

function positionOf(error: unknown): number {
  const node = error instanceof Error && 'node' in error ? error.node : undefined
  const position = typeof node === 'object' && node !== null && 'pos' in node ? node.pos : 0
  return typeof position === 'number' ? position : 0
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'summary' in error && typeof error.summary === 'string') return error.summary
  return error instanceof Error ? error.message : String(error)
}
