/** Reads the index of a chart repository. */
import { isRecord, type JsonRecord, parseBoundedJson } from '@reeve/http'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import { textAt } from '../json-shape.ts'
import { readYaml, yamlValue } from '../yaml/read-yaml.ts'
import { parseDigest } from './chart-digest.ts'
import { chooseVersion } from './choose-version.ts'
import { indexItems } from './index-items.ts'

/** The largest index that is parsed as a whole when it is YAML and not laid out the way Helm writes it. */
const MAX_PARSED_BYTES = 128 * 1024

/** About six a line. */
const MAX_TOKENS = 100_000

/** Where an index says a version is. */
export interface IndexEntry {
  readonly version: string
  /** Relative to the repository, or somewhere else altogether. */
  readonly url: string
  /** Absent in old or hand-written indexes. */
  readonly digest?: string
}

/**
 * The entry of the version that `wanted` allows.
 *
 * *Errors*: `ChartInvalidError` when it is not an index; `ChartNotFoundError` when the chart or version is not in it.
 */
export function findInIndex(index: string, chart: string, wanted: string | undefined, what: string): IndexEntry {
  const rows = rowsOf(index, chart, what)
  if (rows.length === 0) throw new ChartNotFoundError(`${what}: the repository has no chart ${chart}`)
  const version = chooseVersion(
    rows.map((row) => row.version),
    wanted,
  )
  if (version === undefined) {
    throw new ChartNotFoundError(
      `${what}: no version of ${chart} matches "${wanted ?? ''}" (pre-releases must be requested explicitly)`,
    )
  }
  const fields = rows.find((row) => row.version === version)?.read() ?? {}
  const url = Array.isArray(fields.urls) ? fields.urls.find((address) => typeof address === 'string') : undefined
  if (url === undefined) throw new ChartInvalidError(`${what}: index.yaml has no address for ${chart} ${version}`)
  const digest = textAt(fields, 'digest')
  return { version, url, ...(digest !== undefined && { digest: parseDigest(digest, `${what}: digest in index.yaml`) }) }
}

/** One version; its fields are parsed when they are needed. */
interface IndexRow {
  readonly version: string
  read(): JsonRecord
}

function rowsOf(index: string, chart: string, what: string): readonly IndexRow[] {
  const items = isJson(index) ? undefined : indexItems(index, chart)
  if (items !== undefined) {
    return items.map(({ version, text }) => ({ version, read: () => asObject(parseYaml(text, what), what) }))
  }
  const { entries } = asObject(parseWhole(index, what), what)
  if (!isRecord(entries)) throw new ChartInvalidError(`${what}: index.yaml has no entries`)
  const list = Object.hasOwn(entries, chart) ? entries[chart] : undefined
  return (Array.isArray(list) ? list.filter(isRecord) : []).flatMap((fields) => {
    const version = textAt(fields, 'version')
    return version === undefined ? [] : [{ version, read: () => fields }]
  })
}

function parseWhole(index: string, what: string): unknown {
  if (!isJson(index)) {
    if (index.length <= MAX_PARSED_BYTES) return parseYaml(index, what)
    throw new ChartInvalidError(`${what}: index.yaml is large and not as Helm writes it; run "helm repo index" again`)
  }
  try {
    return parseBoundedJson(Buffer.from(index))
  } catch (error) {
    throw new ChartInvalidError(`${what}: index.yaml cannot be read`, { cause: error })
  }
}

function parseYaml(text: string, what: string): unknown {
  try {
    const [document] = readYaml(text, { maxTokens: MAX_TOKENS, uniqueKeys: false })
    return document && yamlValue(document)
  } catch (error) {
    throw new ChartInvalidError(`${what}: index.yaml cannot be read`, { cause: error })
  }
}

function asObject(value: unknown, what: string): JsonRecord {
  if (isRecord(value)) return value
  throw new ChartInvalidError(`${what}: index.yaml does not have a mapping where one is expected`)
}

function isJson(text: string): boolean {
  return text.trimStart().startsWith('{')
}
