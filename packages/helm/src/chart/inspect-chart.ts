/** Inspects a chart archive without unpacking it to disk. Archives are not trusted. */
import { isRecord } from '@reeve/http'
import semver from 'semver'
import type { ReadEntry } from 'tar'
import { ChartInvalidError } from '../errors.ts'
import { textAt } from '../json-shape.ts'
import type { ChartMetadata } from '../release/release.ts'
import { readYaml, YamlFault, yamlValue } from '../yaml/read-yaml.ts'
import { archiveBudget, readArchive } from './read-archive.ts'

/** `Chart.yaml` is a few hundred bytes, with a long list of maintainers a few thousand. */
const MAX_METADATA_BYTES = 1024 * 1024

/** About six a line. */
const MAX_METADATA_TOKENS = 50_000

/** Limits of {@link inspectArchive}. */
export interface ArchiveLimits {
  /** @default 104_857_600 */
  readonly maxUnpackedBytes?: number
  /** @default 10_000 */
  readonly maxFiles?: number
}

/**
 * What the `Chart.yaml` of an archive says.
 *
 * *Errors*: `ChartInvalidError` when it is not a chart, unpacks to more than the limits allow, or contains links, devices or
 * paths that lead out of it.
 */
export async function inspectArchive(
  bytes: Uint8Array,
  what: string,
  limits: ArchiveLimits = {},
): Promise<ChartMetadata> {
  const metadata: Buffer[] = []
  let isFound = false
  await readArchive(bytes, {
    what,
    budget: archiveBudget(limits.maxUnpackedBytes, limits.maxFiles),
    onEntry(entry) {
      const unsafe = unsafeEntry(entry)
      if (unsafe !== undefined) return unsafe
      if (isFound || !/^[^/]+\/Chart\.yaml$/.test(entry.path)) return undefined
      isFound = true
      if (entry.size > MAX_METADATA_BYTES) return 'has a Chart.yaml that is too large'
      entry.on('data', (chunk: Buffer) => metadata.push(chunk))
      return undefined
    },
  })
  if (!isFound) throw new ChartInvalidError(`${what} has no Chart.yaml in its top folder: it is not a chart`)
  return parseMetadata(Buffer.concat(metadata).toString('utf8'), what)
}

/**
 * The name and version that a `Chart.yaml` gives.
 *
 * *Errors*: `ChartInvalidError` names the field.
 */
export function parseMetadata(text: string, what: string): ChartMetadata {
  const invalid = (problem: string) => new ChartInvalidError(`Chart.yaml of ${what} ${problem}`)
  const fields = readFields(text, invalid)
  if (!isRecord(fields)) throw invalid('is not a mapping')
  const [name, version] = [textAt(fields, 'name'), textAt(fields, 'version')]
  // The name becomes part of paths and messages: nothing but what Helm allows.
  if (name === undefined || !/^[a-zA-Z0-9._-]{1,250}$/.test(name) || name === '.' || name === '..') {
    throw invalid('has no valid name')
  }
  if (version === undefined || version.length > 250 || semver.valid(version) === null) {
    throw invalid('has no valid version: it must be a semantic version')
  }
  const appVersion = fields.appVersion
  return {
    name,
    version,
    ...((typeof appVersion === 'string' || typeof appVersion === 'number') && { appVersion: String(appVersion) }),
  }
}

function readFields(text: string, invalid: (problem: string) => ChartInvalidError): unknown {
  try {
    const [document] = readYaml(text, { maxTokens: MAX_METADATA_TOKENS, uniqueKeys: false })
    return document && yamlValue(document)
  } catch (error) {
    if (error instanceof YamlFault) throw invalid(error.message)
    throw error
  }
}

function unsafeEntry(entry: ReadEntry): string | undefined {
  if (!['File', 'OldFile', 'Directory', 'ContiguousFile'].includes(entry.type)) {
    return `contains a ${entry.type} entry: links and devices have no place in a chart`
  }
  const parts = entry.path.split(/[/\\]/)
  const isOutside = entry.path.startsWith('/') || /^[a-zA-Z]:/.test(entry.path) || parts.includes('..')
  return isOutside ? 'contains a path that leads out of it' : undefined
}
