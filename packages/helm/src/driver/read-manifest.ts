/** Reads the objects of a rendered manifest the way Helm and the Kubernetes client in it do. */
import { isRecord, type UnknownObject } from '@reeve/kube'
import { isMap, isScalar, isSeq } from 'yaml'
import { TemplateError } from '../errors.ts'
import { type ReadYamlOptions, readYaml, YamlFault, yamlValue } from '../yaml/read-yaml.ts'

/** The content of a manifest. */
export interface ReadManifest {
  /** In order; a list counts as its items, an empty document as nothing. Those without a name have `generateName`. */
  readonly objects: readonly UnknownObject[]
  /** Why documents are not among them, such as `document 3 is not valid YAML …`. Never quotes the manifest. */
  readonly problems: readonly string[]
}

/** Most characters of a manifest; its record, packed, fits into 1 MiB. */
const MAX_LENGTH = 8 * 1024 * 1024

/** Most tokens of one document: the largest custom resource definitions have a third of it. */
const MAX_TOKENS = 300_000

/**
 * Helm reads YAML 1.1 with a Go library that does not parse times and dates, and uses the last of duplicate keys.
 */
const AS_HELM_READS: Omit<ReadYamlOptions, 'maxTokens'> = {
  uniqueKeys: false,
  schema: {
    version: '1.1',
    merge: true,
    customTags: (tags) =>
      tags.filter(
        (tag) => typeof tag === 'string' || (tag.format !== 'TIME' && tag.tag !== 'tag:yaml.org,2002:timestamp'),
      ),
  },
}

/** Line breaks for Helm's parser, and for no other. */
const UNCOMMON_BREAKS = /\r(?!\n)|[\u0085\u2028\u2029]/

/**
 * The objects of a manifest, and what is wrong with the rest of it.
 *
 * *Guarantees*: an object that is returned has the kind, namespace and name that Helm finds in it. A document in which
 * parsers may each find a different one (a merge key or a tag in its identity) is a problem, not an object.
 * Time and memory are bounded.
 *
 * @example
 * const { objects, problems } = readManifest(release.manifest)
 */
export function readManifest(manifest: string): ReadManifest {
  if (manifest.length > MAX_LENGTH) {
    return { objects: [], problems: [`it has ${manifest.length} characters: at most ${MAX_LENGTH} are read`] }
  }
  const objects: UnknownObject[] = []
  const problems: string[] = []
  for (const [index, text] of splitDocuments(manifest).entries()) {
    try {
      objects.push(...readDocument(text))
    } catch (error) {
      if (!(error instanceof YamlFault)) throw error
      problems.push(`document ${index + 1} ${error.message}`)
    }
  }
  return { objects, problems }
}

/**
 * The objects of a manifest, for callers that need all of them.
 *
 * *Errors*: `TemplateError` when a document is not an object with apiVersion and kind.
 *
 * @example
 * const inventory = manifestObjects(release.manifest).map(({ kind, metadata }) => `${kind}/${metadata.name}`)
 */
export function manifestObjects(manifest: string): readonly UnknownObject[] {
  const { objects, problems } = readManifest(manifest)
  const [problem] = problems
  if (problem !== undefined) throw new TemplateError(`of the manifest, ${problem}`)
  return objects
}

/** Documents are separated by lines of `---`. */
function splitDocuments(manifest: string): readonly string[] {
  const documents: string[][] = [[]]
  for (const line of manifest.split('\n')) {
    if (/^---\s*(#.*)?$/.test(line)) documents.push([])
    else documents.at(-1)?.push(line)
  }
  // What precedes the first line is mostly nothing, and then not counted.
  const [first = '', ...others] = documents.map((lines) => lines.join('\n'))
  return first === '' ? others : [first, ...others]
}

function readDocument(text: string): readonly UnknownObject[] {
  const lines = text.split('\n')
  // Some lines of comments are all that is left of a template that is switched off.
  if (lines.every((line) => /^\s*(#|$)/.test(line))) return []
  if (UNCOMMON_BREAKS.test(text) || lines.some((line) => line.startsWith('---'))) {
    throw new YamlFault('has a line break that parsers do not agree on')
  }
  const [document, another] = readYaml(text, { ...AS_HELM_READS, maxTokens: MAX_TOKENS })
  if (another !== undefined) throw new YamlFault('contains several documents')
  if (document === undefined || document.contents === null) return []
  const value = yamlValue(document)
  if (value === null) return []
  return objectsIn(document.contents, value)
}

/** The Kubernetes client treats every object with items as a list, whatever its kind. */
function objectsIn(node: unknown, value: unknown): readonly UnknownObject[] {
  if (!isMap(node) || !isRecord(value)) throw new YamlFault('is not an object')
  const fields = plainFields(node)
  const [listed] = [...fields.keys()].filter((name) => name.toLowerCase() === 'items')
  if (listed !== undefined) {
    const [items, values] = [fields.get(listed), value[listed]]
    if (!isSeq(items) || !Array.isArray(values)) throw new YamlFault('has items that are not a list')
    return items.items.flatMap((item, index) => objectsIn(item, values[index]))
  }
  for (const name of ['apiVersion', 'kind']) requireText(fields.get(name), name)
  const metadataNode = fields.get('metadata')
  if (!isMap(metadataNode)) throw new YamlFault('has no metadata, or not as a map')
  const named = plainFields(metadataNode)
  for (const name of ['name', 'namespace', 'generateName']) {
    if (!isNothing(named.get(name))) requireText(named.get(name), `metadata.${name}`)
  }
  const { apiVersion, kind, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isRecord(metadata)) {
    throw new YamlFault('has no apiVersion, kind or metadata')
  }
  // Charts write `namespace:` with nothing after it, which means that of the release.
  const { namespace, ...others } = metadata
  return [
    {
      ...value,
      apiVersion,
      kind,
      metadata: { ...others, ...(typeof namespace === 'string' && namespace !== '' && { namespace }) },
    },
  ]
}

/** The fields of a map by name; of several with one name the last. */
function plainFields(node: { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] }) {
  const fields = new Map<string, unknown>()
  for (const { key, value } of node.items) {
    if (!isScalar(key) || key.tag !== undefined || typeof key.value !== 'string') {
      throw new YamlFault('has a key that parsers do not agree on')
    }
    if (key.value === '<<') throw new YamlFault('has a merge key where it says what it is')
    fields.set(key.value, value)
  }
  return fields
}

function isNothing(node: unknown): boolean {
  return node === undefined || (isScalar(node) && node.tag === undefined && node.value === null)
}

function requireText(node: unknown, name: string): void {
  if (!isScalar(node) || node.tag !== undefined || typeof node.value !== 'string') {
    throw new YamlFault(`has no plain text as ${name}`)
  }
}
