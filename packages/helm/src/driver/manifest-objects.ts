/** Reads the objects of a rendered manifest. */
import { isRecord, type UnknownObject } from '@reeve/kube'
import { parseAllDocuments } from 'yaml'
import { TemplateError } from '../errors.ts'

/** Anchors are rare in manifests; unbounded, a few lines of them unfold to gigabytes. */
const MAX_ALIASES = 100

/**
 * The objects of a manifest, in order; a `List` counts as its items, empty documents as nothing.
 *
 * *Errors*: `TemplateError` when a document is no object with apiVersion, kind and name.
 *
 * @example
 * const inventory = manifestObjects(release.manifest).map(({ kind, metadata }) => `${kind}/${metadata.name}`)
 */
export function manifestObjects(manifest: string): readonly UnknownObject[] {
  const documents = parseAllDocuments(manifest, { logLevel: 'silent', prettyErrors: false })
  return [...documents].flatMap((document, index) => {
    const where = `document ${index + 1} of the manifest`
    // The parser's message would quote the manifest, and manifests hold Secrets.
    if (document.errors.length > 0) throw new TemplateError(`${where} is not valid YAML`)
    const value = unfold(document, where)
    return value === null || value === undefined ? [] : objectsIn(value, where)
  })
}

function unfold(document: { toJS(options: { maxAliasCount: number }): unknown }, where: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw new TemplateError(`${where} refers to itself too often`, {}, { cause: error })
  }
}

function objectsIn(value: unknown, where: string): readonly UnknownObject[] {
  if (!isRecord(value)) throw new TemplateError(`${where} is no object`)
  const { apiVersion, kind, metadata, items } = value
  if (kind === 'List' && Array.isArray(items)) return items.flatMap((item) => objectsIn(item, where))
  const isObject =
    typeof apiVersion === 'string' &&
    typeof kind === 'string' &&
    isRecord(metadata) &&
    typeof metadata.name === 'string'
  if (!isObject) throw new TemplateError(`${where} lacks apiVersion, kind or metadata.name`)
  return [{ ...value, apiVersion, kind, metadata }]
}
