/** Reads the index of a chart repository. */
import { parse } from 'yaml'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import { isJsonObject, textAt } from '../json-shape.ts'
import { parseDigest } from './chart-digest.ts'
import { chooseVersion } from './choose-version.ts'

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
 * *Errors*: `ChartInvalidError` when it is no index; `ChartNotFoundError` when it has no such chart or version.
 */
export function findInIndex(text: string, chart: string, wanted: string | undefined, what: string): IndexEntry {
  const index = parseIndex(text, what)
  const entries = isJsonObject(index) && isJsonObject(index.entries) ? index.entries : undefined
  if (entries === undefined) throw new ChartInvalidError(`${what}: index.yaml has no entries`)
  const rows = Object.hasOwn(entries, chart) ? entries[chart] : undefined
  const found = Array.isArray(rows) ? rows.filter(isJsonObject) : []
  if (found.length === 0) throw new ChartNotFoundError(`${what}: the repository has no chart ${chart}`)
  const versions = found.flatMap((row) => textAt(row, 'version') ?? [])
  const version = chooseVersion(versions, wanted)
  if (version === undefined) {
    throw new ChartNotFoundError(
      `${what}: no version of ${chart} matches "${wanted ?? ''}" (pre-releases must be named)`,
    )
  }
  const row = found.find((candidate) => candidate.version === version) ?? {}
  const url = Array.isArray(row.urls) ? row.urls.find((address) => typeof address === 'string') : undefined
  if (url === undefined) throw new ChartInvalidError(`${what}: index.yaml has no address for ${chart} ${version}`)
  const digest = textAt(row, 'digest')
  return { version, url, ...(digest !== undefined && { digest: parseDigest(digest, `${what}: digest in index.yaml`) }) }
}

function parseIndex(text: string, what: string): unknown {
  try {
    // JSON is YAML, and much faster to read.
    return text.trimStart().startsWith('{')
      ? JSON.parse(text)
      : parse(text, { logLevel: 'silent', maxAliasCount: 100, prettyErrors: false })
  } catch (error) {
    throw new ChartInvalidError(`${what}: index.yaml cannot be read`, { cause: error })
  }
}
