/** Reads files of Kubernetes objects, with the position of each field. */
import { readFile } from 'node:fs/promises'
import { parseYamlDocuments, type YamlOptions } from '@reeve/kube/yaml'
import { type Document, isAlias, isCollection, isMap, isNode, isScalar, isSeq, LineCounter, type Node } from 'yaml'
import { findFiles, ManifestFileError, readable } from './find-files.ts'

/** A position in a file, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A syntax error in a file. */
export interface SyntaxProblem extends Position {
  readonly file: string
  readonly message: string
}

/** One document of a file. */
export interface ManifestDocument {
  /** The name of the file as it was given. */
  readonly file: string
  readonly document: Document
  readonly value: unknown
  /**
   * The position of a field, such as `spec.env[0].name`: of its key or, if it is missing, that of the nearest parent.
   */
  readonly locate: (field: string) => Position
}

/** The content of the files. */
export interface Manifests {
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly SyntaxProblem[]
}

/** Types of YAML 1.1 that JSON, and therefore Kubernetes, does not have. */
const FOREIGN_TAGS = new Set(['timestamp', 'binary', 'set', 'omap', 'pairs'].map((name) => `tag:yaml.org,2002:${name}`))

/** YAML as parsed by kubectl: `yes` and `on` are booleans and `0777` is octal, but `12:30` and dates are text. */
const DIALECT: YamlOptions = {
  version: '1.1',
  customTags: (tags) =>
    tags.filter(
      (tag) => typeof tag === 'string' || !(FOREIGN_TAGS.has(tag.tag) || ('format' in tag && tag.format === 'TIME')),
    ),
}

/** The name of the standard input. */
const STDIN = '-'

/**
 * Reads files, and all YAML and JSON files in folders; documents without content are skipped.
 *
 * *Errors*: {@link ManifestFileError} for a file that cannot be read, and if there is no document at all.
 *
 * @example
 * const { documents, problems } = await readManifests(['dynakube.yaml', '-'], context.readStdin)
 */
export async function readManifests(files: readonly string[], readStdin: () => Promise<string>): Promise<Manifests> {
  const documents: ManifestDocument[] = []
  const problems: SyntaxProblem[] = []
  function add(parsed: Manifests): void {
    for (const document of parsed.documents) documents.push(document)
    for (const problem of parsed.problems) problems.push(problem)
  }
  for (const name of files) {
    if (name === STDIN) {
      add(parseManifests('<stdin>', await readStdin()))
      continue
    }
    for (const file of await findFiles(name)) {
      add(parseManifests(file, await readable(file, () => readFile(file, 'utf8'))))
    }
  }
  if (files.length > 0 && documents.length + problems.length === 0) {
    const names = files.map((name) => (name === STDIN ? 'the standard input' : name))
    throw new ManifestFileError(`${names.join(', ')}: there is no object to read`)
  }
  return { documents, problems }
}

/**
 * Like {@link readManifests}, for text in memory.
 *
 * @example
 * const { documents } = parseManifests('webapp.yaml', text)
 */
export function parseManifests(file: string, text: string): Manifests {
  const lines = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const documents: ManifestDocument[] = []
  const problems: SyntaxProblem[] = []
  for (const document of parseYamlDocuments(text, { ...DIALECT, lineCounter: lines })) {
    const [error] = document.errors
    if (error !== undefined) {
      problems.push({ file, ...positionAt(error.pos[0]), message: error.message })
      continue
    }
    let value: unknown
    try {
      value = document.toJS()
    } catch (cause) {
      // Aliases that expand to gigabytes are rejected here.
      const message = cause instanceof Error ? cause.message : String(cause)
      problems.push({ file, ...positionAt(document.range[0]), message })
      continue
    }
    if (value === null || value === undefined) continue
    documents.push({
      file,
      document,
      value,
      locate: (field) => positionAt(offsetOf(document, parseField(field)) ?? document.contents?.range?.[0] ?? 0),
    })
  }
  return { documents, problems }
}

/** The segments of a field: `spec.env[0]` is spec, env, 0; text in brackets may contain dots. */
function parseField(field: string): readonly string[] {
  return [...field.matchAll(/\[([^[\]]*)\]|([^.[\]]+)/g)].map(([, bracketed, name]) => bracketed ?? name ?? '')
}

function offsetOf(document: Document, steps: readonly string[]): number | undefined {
  let node: unknown = document.contents
  let offset: number | undefined
  for (const step of steps) {
    const next = child(isAlias(node) ? node.resolve(document) : node, step)
    if (next === undefined) break
    offset = next.at.range?.[0] ?? offset
    node = next.value
  }
  return offset
}

/** The member, and the node with its position. */
function child(node: unknown, step: string): { readonly at: Node; readonly value: unknown } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step)
    return pair && isNode(pair.key) ? { at: pair.key, value: pair.value } : undefined
  }
  if (!isSeq(node)) return undefined
  const item = node.items.find((candidate, index) => String(index) === step || hasIdentity(candidate, step))
  return isNode(item) ? { at: item, value: item } : undefined
}

/** Items of keyed lists are identified by their key. */
function hasIdentity(item: unknown, identity: string): boolean {
  return isCollection(item) && ['id', 'name', 'type'].some((key) => item.get(key) === identity)
}
