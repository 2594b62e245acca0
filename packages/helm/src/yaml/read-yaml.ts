/** Reads untrusted YAML within limits, and never quotes it: it may contain secrets. */
import { parseYamlDocuments, type YamlOptions } from '@reeve/kube/yaml'
import { type Document, Lexer } from 'yaml'

/** A YAML document without errors. */
export type YamlDocument = Document.Parsed

/** How a text is read. */
export interface ReadYamlOptions {
  /** Bounds the time of parsing; a line has about six. */
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
  let tokens = 0
  for (const _token of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new YamlFault(`has more than ${maxTokens} YAML tokens`)
  }
  const documents = parseYamlDocuments(text, { ...schema, uniqueKeys, logLevel: 'silent' })
  const [error] = documents.flatMap(({ errors }) => errors)
  if (error === undefined) return documents
  const line = text.slice(0, error.pos[0]).split('\n').length
  throw new YamlFault(`is not valid YAML in line ${line} (${error.code})`)
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
