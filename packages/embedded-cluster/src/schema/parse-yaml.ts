/** Reads request bodies of YAML. Apart from the reader of JSON, because few requests need the large library. */
import {
  CST,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  type ScalarTag,
} from 'yaml'
import type { JsonValue } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { maxDepth, type ParsedBody, parseJson, tooDeep, unreadable } from './parse.ts'

/**
 * Parses YAML as Kubernetes reads it: one document, YAML 1.1 booleans and octal numbers, no time stamps or binary
 * values, merge keys resolved. JSON is YAML too, and much faster to read, so it is tried first.
 *
 * *Errors*: StatusError 400 with line and column when the text is not YAML, nested too deep or inflated by aliases.
 */
export function parseYaml(text: string): ParsedBody {
  if (/^\s*[{[]/.test(text)) {
    try {
      const parsed = parseJson(text)
      return new YamlBody(text, parsed.value, () => parsed.duplicates)
    } catch (error) {
      if (error instanceof StatusError && error.message.includes('nested')) throw error
      // Flow-style YAML starts like JSON; the YAML parser has the last word.
    }
  }
  assertShallow(text)
  assertFewAliases(text)
  const lineCounter = new LineCounter()
  const document = parseShallow(text, lineCounter)
  const [problem] = document.errors
  if (problem !== undefined) {
    if (problem.code === 'RESOURCE_EXHAUSTION') throw tooDeep('YAML')
    const { line, col } = lineCounter.linePos(problem.pos[0])
    throw unreadable('YAML', `line ${line}, column ${col}: ${problem.message}`, problem)
  }
  requirePlainKeys(document.contents)
  let value: JsonValue
  try {
    value = jsonOf(document.toJS({ maxAliasCount: 100 }))
  } catch (error) {
    if (error instanceof StatusError) throw error
    // An alias inside the value that it refers to never ends.
    if (error instanceof RangeError) throw tooDeep('YAML')
    throw unreadable('YAML', error instanceof Error ? error.message : String(error), error)
  }
  return new YamlBody(text, value, () => {
    const duplicates: Duplicate[] = []
    if (document.contents !== null) collectDuplicates(document.contents, '', duplicates)
    return duplicates.map(({ path }) => path)
  })
}

class YamlBody implements ParsedBody {
  readonly value: JsonValue
  readonly isYaml = true
  readonly #text: string
  readonly #find: () => readonly string[]
  #duplicates: readonly string[] | undefined

  constructor(text: string, value: JsonValue, find: () => readonly string[]) {
    this.#text = text
    this.value = value
    this.#find = find
  }

  get duplicateKeys(): readonly string[] {
    const lineCounter = new LineCounter()
    const { contents } = parseShallow(this.#text, lineCounter)
    const duplicates: Duplicate[] = []
    if (contents !== null) collectDuplicates(contents, '', duplicates)
    return duplicates.map(({ name, offset }) => {
      return `line ${lineCounter.linePos(offset).line}: key ${JSON.stringify(name)} already set in map`
    })
  }

  get duplicates(): readonly string[] {
    this.#duplicates ??= this.#find()
    return this.#duplicates
  }
}

/** YAML 1.2's spelling of octal numbers, which Kubernetes reads beside that of YAML 1.1. */
const modernOctal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => Number.parseInt(text.replace('0o', ''), 8),
}

/** YAML 1.1 reads `2024-01-01` as a time and `1:30` as ninety; Kubernetes reads both as text. */
function isForeignTag(tag: unknown): boolean {
  if (typeof tag !== 'object' || tag === null) return false
  const { tag: name, format } = tag as { tag?: string; format?: string }
  return name === 'tag:yaml.org,2002:timestamp' || name === 'tag:yaml.org,2002:binary' || format === 'TIME'
}

/** The YAML parser is recursive, so depth is bounded on the text: by brackets, and by indentation and dashes. */
function assertShallow(text: string): void {
  let flow = 0
  for (const line of text.split('\n')) {
    const lead = /^[ \t-]*/.exec(line)?.[0].length ?? 0
    if (lead > 2 * maxDepth) throw tooDeep('YAML')
    for (const char of line) {
      if (char === '{' || char === '[') flow++
      else if ((char === '}' || char === ']') && flow > 0) flow--
      if (flow > maxDepth) throw tooDeep('YAML')
    }
  }
}

const maxAliases = 1000

/** The YAML parser searches the document for the anchor of every alias. */
function assertFewAliases(text: string): void {
  if (!text.includes('*')) return
  let aliases = 0
  let previous = ''
  for (const lexeme of new Lexer().lex(text)) {
    // Scalars, which may begin with an asterisk, are preceded by a marker.
    if (lexeme.startsWith('*') && previous !== CST.SCALAR && ++aliases > maxAliases) {
      throw unreadable('YAML', `more than ${maxAliases} aliases`, undefined)
    }
    previous = lexeme
  }
}

function parseShallow(text: string, lineCounter: LineCounter): ReturnType<typeof parseDocument> {
  try {
    return parseDocument(text, {
      version: '1.1',
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter,
      customTags: (tags) => [modernOctal, ...tags.filter((tag) => !isForeignTag(tag))],
    })
  } catch (error) {
    throw error instanceof RangeError ? tooDeep('YAML') : error
  }
}

/**
 * Rejects maps and lists as keys, as Kubernetes does. The parser would write each of them out as the name of a field,
 * and those inside it again: a few hundred bytes take minutes.
 */
function requirePlainKeys(node: unknown): void {
  if (isSeq(node)) for (const item of node.items) requirePlainKeys(item)
  if (!isMap(node)) return
  for (const { key, value } of node.items) {
    if (!isScalar(key)) throw unreadable('YAML', 'a key must be a scalar, not a map, a list or an alias', undefined)
    requirePlainKeys(value)
  }
}

/** YAML may hold what JSON cannot: numbers such as .nan, keys that are not text. */
function jsonOf(value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'bigint':
      return Number(value)
    case 'number':
      if (!Number.isFinite(value)) throw unreadable('YAML', 'numbers must be finite', undefined)
      return value
    default:
  }
  if (Array.isArray(value)) return value.map(jsonOf)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, jsonOf(field)]))
}

interface Duplicate {
  readonly path: string
  readonly name: string
  /** The position of the later key. */
  readonly offset: number
}

function collectDuplicates(node: Node, path: string, duplicates: Duplicate[]): void {
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      if (isNode(item)) collectDuplicates(item, `${path}[${index}]`, duplicates)
    }
  } else if (isMap(node)) {
    const seen = new Set<string>()
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key)) continue
      const name = String(pair.key.value)
      const fieldPath = path === '' ? name : `${path}.${name}`
      if (seen.has(name)) duplicates.push({ path: fieldPath, name, offset: pair.key.range?.[0] ?? 0 })
      seen.add(name)
      if (isNode(pair.value)) collectDuplicates(pair.value, fieldPath, duplicates)
    }
  }
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value)
}
