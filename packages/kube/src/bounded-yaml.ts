/** Parses untrusted YAML within limits, in time and memory linear in its size. */
import {
  Composer,
  CST,
  type Document,
  type DocumentOptions,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  YAMLParseError,
} from 'yaml'

/** Limits of a YAML text. */
export interface YamlLimits {
  /** Characters of the whole text. @default 32 Mi */
  readonly maxLength?: number
  /** Levels of maps and lists. @default 256 */
  readonly maxDepth?: number
  /** Aliases in one document. @default 1_000 */
  readonly maxAliases?: number
}

/** The default limits. The parser is recursive: a thousand levels would exhaust the stack. */
export const YAML_LIMITS = Object.freeze({ maxLength: 32 * 1024 * 1024, maxDepth: 256, maxAliases: 1_000 })

/** Options of {@link parseYamlDocuments}; those of the parser, and the limits. */
export interface YamlOptions
  extends Omit<ParseOptions, 'uniqueKeys' | 'prettyErrors' | 'lineCounter'>,
    DocumentOptions,
    SchemaOptions,
    YamlLimits {
  /** Whether a duplicate key is an error; otherwise the last one is used. @default true */
  readonly uniqueKeys?: boolean
  /** Records where lines begin, for line numbers in errors. */
  readonly lineCounter?: LineCounter
}

/**
 * Parses all documents of a text. As with the parser itself, callers must check the `errors` of a document first.
 *
 * *Guarantees*: a document with a key given twice, with a map or list as a key, or with an alias inside what it stands
 * for, has an error that says so.
 * One that exceeds the limits is the last: it has an error with the code `RESOURCE_EXHAUSTION` and no contents, and what comes after it is not read.
 *
 * @example
 * for (const document of parseYamlDocuments(text)) if (document.errors.length === 0) use(document.toJS())
 */
export function parseYamlDocuments(text: string, options: YamlOptions = {}): readonly Document.Parsed[] {
  const { lineCounter, maxLength, maxDepth, maxAliases, uniqueKeys = true, ...given } = options
  const limits = {
    maxLength: maxLength ?? YAML_LIMITS.maxLength,
    maxDepth: maxDepth ?? YAML_LIMITS.maxDepth,
    maxAliases: maxAliases ?? YAML_LIMITS.maxAliases,
  }
  // The parser's own search for duplicate keys takes a minute for 20,000 of them.
  const composer = new Composer({ ...given, uniqueKeys: false, prettyErrors: false })
  const excesses: YAMLParseError[] = []
  const report = (offset: number, message: string) =>
    excesses.push(new YAMLParseError([offset, offset + 1], 'RESOURCE_EXHAUSTION', message))
  const documents = [...composer.compose(boundedTokens(text, limits, report, lineCounter))]
  documents.at(-1)?.errors.push(...excesses)
  // The parser's types do not express that a composed document has been parsed.
  const parsed = documents as readonly Document.Parsed[]
  for (const document of parsed) if (document.errors.length === 0) findContradictions(document, uniqueKeys)
  return parsed
}

/**
 * Parses until a limit is exceeded, which ends the text with an empty document. The limit must be checked while
 * parsing: the parser itself uses the stack for every level that it closes.
 */
function* boundedTokens(
  text: string,
  { maxLength, maxDepth, maxAliases }: Required<YamlLimits>,
  report: (offset: number, message: string) => void,
  lineCounter: LineCounter | undefined,
): Generator<CST.Token> {
  const end = (offset: number, message: string): CST.Document => {
    report(offset, message)
    return { type: 'document', offset, start: [] }
  }
  if (text.length > maxLength) {
    yield end(0, `longer than ${maxLength} characters`)
    return
  }
  const parser = new Parser(lineCounter?.addNewLine)
  lineCounter?.addNewLine(0)
  let aliases = 0
  let previous = ''
  for (const lexeme of new Lexer().lex(text)) {
    const { offset, stack } = parser
    if (lexeme === CST.DOCUMENT) aliases = 0
    // A tag or anchor precedes scalars, which may begin like an alias.
    if (lexeme.startsWith('*') && previous !== CST.SCALAR && ++aliases > maxAliases) {
      yield end(offset, `more than ${maxAliases} aliases`)
      return
    }
    previous = lexeme
    yield* parser.next(lexeme)
    const top = stack.at(-1)
    // The document is below the collections.
    if (stack.length > maxDepth + 1 && top !== undefined && 'items' in top) {
      yield end(offset, `nested deeper than ${maxDepth} levels`)
      return
    }
  }
  yield* parser.end()
}

type Report = (node: unknown, code: ErrorCode, message: string) => void

/** Adds an error for everything that is valid YAML but cannot be represented as JSON. */
function findContradictions(document: Document.Parsed, uniqueKeys: boolean): void {
  visit(document.contents, new Set(), uniqueKeys, (node, code, message) => {
    const [start, end] = isNode(node) && node.range ? node.range : [0, 1]
    document.errors.push(new YAMLParseError([start, end], code, message))
  })
}

function visit(node: unknown, open: ReadonlySet<string>, uniqueKeys: boolean, report: Report): void {
  if (isAlias(node) && open.has(node.source)) {
    report(node, 'BAD_ALIAS', `the alias *${node.source} is inside its own anchor`)
  }
  if (!isMap(node) && !isSeq(node)) return
  const anchors = node.anchor === undefined ? open : new Set([...open, node.anchor])
  if (isSeq(node)) {
    for (const item of node.items) visit(item, anchors, uniqueKeys, report)
    return
  }
  const names = new Set<string>()
  for (const { key, value } of node.items) {
    visit(value, anchors, uniqueKeys, report)
    // The parser would use the whole map as the name of the field.
    if (isCollection(key)) report(key, 'NON_STRING_KEY', 'a key must be text')
    // Keys that are symbols are merge keys; a map may have several.
    if (!isScalar(key) || typeof key.value === 'symbol') continue
    const name = String(key.value)
    if (uniqueKeys && names.has(name)) report(key, 'DUPLICATE_KEY', `duplicate key ${JSON.stringify(name)}`)
    names.add(name)
  }
}
