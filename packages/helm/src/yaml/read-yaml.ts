/** Reads untrusted YAML within limits, and never quotes it: it may contain secrets. */
import { parseYamlDocuments, type YamlOptions } from '@reeve/kube/yaml'
import { CST, type Document, Lexer } from 'yaml'

/** A YAML document without errors. */
export type YamlDocument = Document.Parsed

/** How a text is read. */
export interface ReadYamlOptions {
  /**
   * Bounds the time of parsing, and of working with the result; a line has about six. An alias counts as the whole text, of
   * which it may repeat any part.
   */
  readonly maxTokens: number
  /** Reject duplicate keys; otherwise the last one counts. @default true */
  readonly uniqueKeys?: boolean
  /** How scalars are read. @default as YAML 1.2 has it */
  readonly schema?: Pick<YamlOptions, 'version' | 'merge' | 'customTags'>
}

/** Without a bound, a few lines of aliases expand to gigabytes. */
const MAX_ALIASES = 100

/** A text that cannot be read. The message names the line at most. */
export class YamlFault extends Error {
  override readonly name = 'YamlFault'
}

/**
 * The documents of a text.
 *
 * *Errors*: {@link YamlFault}.
 *
 * @example
 * const [document] = readYaml('replicas: 2', { maxTokens: 100_000 })
 */
export function readYaml(text: string, options: ReadYamlOptions): readonly YamlDocument[] {
  const { maxTokens, uniqueKeys = true, schema = {} } = options
  countTokens(text, maxTokens)
  const documents = parseYamlDocuments(text, { ...schema, uniqueKeys, logLevel: 'silent' })
  const [error] = documents.flatMap(({ errors }) => errors)
  if (error === undefined) return documents
  const line = text.slice(0, error.pos[0]).split('\n').length
  throw new YamlFault(`is not valid YAML in line ${line} (${error.code})`)
}

/**
 * What reading a text costs, in tokens.
 *
 * *Errors*: {@link YamlFault} as soon as they are more than `maxTokens`.
 */
export function countTokens(text: string, maxTokens: number): number {
  let tokens = 0
  let aliases = 0
  let previous = ''
  for (const token of new Lexer().lex(text)) {
    tokens++
    // A scalar, which may begin like an alias, follows a mark.
    if (token.startsWith('*') && previous !== CST.SCALAR) aliases++
    previous = token
    if (tokens * (1 + aliases) > maxTokens) throw new YamlFault(`has more than ${maxTokens} YAML tokens`)
  }
  return tokens * (1 + aliases)
}

/**
 * The value of a document.
 *
 * *Errors*: {@link YamlFault} for one with too many aliases.
 */
export function yamlValue(document: YamlDocument): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch {
    // Only aliases can still be wrong.
    throw new YamlFault(`uses YAML aliases more than ${MAX_ALIASES} times`)
  }
}
