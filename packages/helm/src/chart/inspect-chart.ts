/** Inspects a chart archive without unpacking it to disk. Archives are not trusted. */

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isRecord } from '@reeve/kube'
import semver from 'semver'
import { Parser, type ReadEntry } from 'tar'
import { DEFAULT_MAX_CHART_FILES, DEFAULT_MAX_UNPACKED_BYTES } from '../defaults.ts'
import { ChartInvalidError } from '../errors.ts'
import { textAt } from '../json-shape.ts'
import type { ChartMetadata } from '../release/release.ts'
import { readYaml, YamlFault, yamlValue } from '../yaml/read-yaml.ts'

/** `Chart.yaml` is a few hundred bytes, with a long list of maintainers a few thousand. */
const MAX_METADATA_BYTES = 1024 * 1024

/** About six a line. */
const MAX_METADATA_TOKENS = 50_000

const gunzipBytes = promisify(gunzip)

/** How gzip and zstd begin. */
const PACKED_MAGIC = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])]

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
  const { maxUnpackedBytes = DEFAULT_MAX_UNPACKED_BYTES, maxFiles = DEFAULT_MAX_CHART_FILES } = limits
  const unpacked = await unpack(bytes, maxUnpackedBytes, what)
  const problems: string[] = []
  const metadata: Buffer[] = []
  let files = 0
  const parser = new Parser({
    // The parser tolerates these; archives that Helm packs never cause them.
    onwarn: (_code, message) => problems.push(`is not a valid tar archive (${message})`),
    onReadEntry(entry) {
      files++
      if (files > maxFiles) problems.push(`has more than ${maxFiles} files`)
      const unsafe = unsafeEntry(entry)
      if (unsafe !== undefined) problems.push(unsafe)
      if (metadata.length === 0 && /^[^/]+\/Chart\.yaml$/.test(entry.path)) {
        if (entry.size > MAX_METADATA_BYTES) problems.push('has a Chart.yaml that is too large')
        else entry.on('data', (chunk: Buffer) => metadata.push(chunk))
      }
      entry.resume()
    },
  })
  // The parser works through bytes that are all there before it returns.
  parser.end(unpacked)
  const [problem] = problems
  if (problem !== undefined) throw new ChartInvalidError(`${what} ${problem}`)
  if (metadata.length === 0)
    throw new ChartInvalidError(`${what} has no Chart.yaml in its top folder: it is not a chart`)
  return parseMetadata(Buffer.concat(metadata).toString('utf8'), what)
}

async function unpack(bytes: Uint8Array, maxBytes: number, what: string): Promise<Buffer> {
  const unpacked = await gunzipBytes(bytes, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    const problem = isTooLarge ? `unpacks to more than ${maxBytes} bytes` : 'is not a gzipped archive'
    throw new ChartInvalidError(`${what} ${problem}`, { cause: error })
  })
  // The parser would unpack a doubly packed archive again, without a limit.
  if (PACKED_MAGIC.some((magic) => unpacked.subarray(0, magic.length).equals(magic))) {
    throw new ChartInvalidError(`${what} is packed twice`)
  }
  return unpacked
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
