/** Reads the objects of a rendered manifest the way Helm and the Kubernetes client in it do. */
import { isRecord } from '@reeve/http'
import type { UnknownObject } from '@reeve/kube'
import { isMap, isScalar, isSeq } from 'yaml'
import { TemplateError } from '../errors.ts'
import { countTokens, type ReadYamlOptions, readYaml, YamlFault, yamlValue } from '../yaml/read-yaml.ts'

/** The content of a manifest. */
export interface ReadManifest {
  /** In order; a list counts as its items, an empty document as nothing. Those without a name have `generateName`. */
  readonly objects: readonly UnknownObject[]
  /** Why documents are not among them, such as `document 3 is not valid YAML …`. Never quotes the manifest. */
  readonly problems: readonly string[]
  /** It would cost too much to read: the problems say so, and objects are missing. */
  readonly exceedsLimits: boolean
}

/** Most characters of a manifest; its record, packed, fits into 1 MiB. */
const MAX_LENGTH = 8 * 1024 * 1024

/** Most tokens of a manifest: some 6,000 lines. Reading them takes 100 to 200 ms, in which nothing else happens. */
const MAX_TOKENS = 40_000

/** Long texts have few tokens, and take time too: so many characters count as one more. */
const CHARACTERS_PER_TOKEN = 20

const TOO_MANY_TOKENS = `it has more than ${MAX_TOKENS} YAML tokens, of which ${CHARACTERS_PER_TOKEN} characters count as one`

/** Most documents, empty ones included, and most objects. Each object is a request or more. */
const MAX_OBJECTS = 500

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
 * Time and memory are bounded, before anything is parsed.
 *
 * @example
 * const { objects, problems } = readManifest(release.manifest)
 */
export function readManifest(manifest: string): ReadManifest {
  return readManifests([manifest])[0] ?? { objects: [], problems: [], exceedsLimits: false }
}

/**
 * Reads several manifests, such as that of a release and those of its hooks, within the limits of one: what exceeds them is
 * not read, and neither is what follows.
 *
 * @example
 * const [manifest, ...hooks] = readManifests([release.manifest, ...release.hooks])
 */
export function readManifests(manifests: readonly string[]): readonly ReadManifest[] {
  const budget: Budget = { characters: MAX_LENGTH, tokens: MAX_TOKENS, documents: MAX_OBJECTS, objects: MAX_OBJECTS }
  return manifests.map((manifest) => readWithin(budget, manifest))
}

/**
 * Why manifests are not read together, as far as that can be said without reading them; nothing if they may be.
 *
 * @example
 * manifestExcess([release.manifest, ...release.hooks]) // has more than 500 documents
 */
export function manifestExcess(manifests: readonly string[]): string | undefined {
  const length = manifests.reduce((sum, { length }) => sum + length, 0)
  if (length > MAX_LENGTH) return `has ${length} characters: at most ${MAX_LENGTH} are read`
  if (length > MAX_TOKENS * CHARACTERS_PER_TOKEN) return `has more than ${MAX_TOKENS} YAML tokens`
  const documents = manifests.reduce((sum, manifest) => sum + countDocuments(manifest, MAX_OBJECTS - sum), 0)
  return documents > MAX_OBJECTS ? `has more than ${MAX_OBJECTS} documents` : undefined
}

/** What may still be read. */
interface Budget {
  characters: number
  tokens: number
  documents: number
  objects: number
}

function readWithin(budget: Budget, manifest: string): ReadManifest {
  const tooMuch = (problem: string) => {
    // Nothing else is read either.
    budget.characters = -1
    return { objects: [], problems: [problem], exceedsLimits: true }
  }
  const length = manifest.length
  budget.characters -= length
  if (budget.characters < 0) return tooMuch(`it has ${length} characters: at most ${MAX_LENGTH} are read`)
  budget.tokens -= Math.ceil(length / CHARACTERS_PER_TOKEN)
  if (budget.tokens < 0) return tooMuch(TOO_MANY_TOKENS)
  budget.documents -= countDocuments(manifest, budget.documents)
  if (budget.documents < 0) return tooMuch(`it has more than ${MAX_OBJECTS} documents`)
  const objects: UnknownObject[] = []
  const problems: string[] = []
  for (const [index, text] of splitDocuments(manifest).entries()) {
    try {
      const found = readDocument(text, budget)
      budget.objects -= found.length
      if (budget.objects < 0) return tooMuch(`it has more than ${MAX_OBJECTS} objects`)
      objects.push(...found)
    } catch (error) {
      if (!(error instanceof YamlFault)) throw error
      if (budget.tokens < 0) return tooMuch(TOO_MANY_TOKENS)
      problems.push(`document ${index + 1} ${error.message}`)
    }
  }
  return { objects, problems, exceedsLimits: false }
}

/** Counts until there are more than `limit`. */
function countDocuments(manifest: string, limit: number): number {
  let count = 1
  for (let at = manifest.indexOf('\n---'); at >= 0 && count <= limit; at = manifest.indexOf('\n---', at + 1)) count++
  return count
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
  const [first = '', ...others] = `\n${manifest}`.split(/\n---[\t\f\r ]*(?:#[^\n]*)?(?=\n|$)/)
  // What precedes the first line is mostly nothing, and then not counted.
  const documents = others.map((text) => text.slice(1))
  return first === '' ? documents : [first.slice(1), ...documents]
}

function readDocument(text: string, budget: Budget): readonly UnknownObject[] {
  // Checked first: in a comment, such a break begins a line that only Helm sees.
  if (UNCOMMON_BREAKS.test(text) || /^---/m.test(text)) {
    throw new YamlFault('has a line break that parsers do not agree on')
  }
  // Some lines of comments are all that is left of a template that is switched off.
  if (!/^[\t\r ]*[^#\t\n\r ]/m.test(text)) return []
  try {
    budget.tokens -= countTokens(text, budget.tokens)
  } catch (error) {
    budget.tokens = -1
    throw error
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
