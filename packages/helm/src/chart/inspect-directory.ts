/** Inspects an unpacked chart: its metadata, and a digest of its contents. */
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_MAX_CHART_FILES, DEFAULT_MAX_UNPACKED_BYTES } from '../defaults.ts'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import type { ChartMetadata } from '../release/release.ts'
import { parseMetadata } from './inspect-chart.ts'

/** What a folder is. */
export interface InspectedDirectory {
  readonly metadata: ChartMetadata
  /** Over paths and contents, in order of paths; not the digest of any archive of it. */
  readonly digest: string
}

/**
 * Reads every file of a chart.
 *
 * *Errors*: `ChartNotFoundError`, or `ChartInvalidError` when it is not a chart, too large, or contains links.
 */
export async function inspectDirectory(path: string): Promise<InspectedDirectory> {
  const metadata = parseMetadata(await readChartYaml(path), path)
  const hash = createHash('sha256')
  let bytes = 0
  for (const file of await filesOf(path)) {
    const content = await readFile(join(path, file))
    bytes += content.length
    if (bytes > DEFAULT_MAX_UNPACKED_BYTES) {
      throw new ChartInvalidError(`chart ${path} has more than ${DEFAULT_MAX_UNPACKED_BYTES} bytes`)
    }
    // Lengths keep the end of one file from passing for the beginning of the next.
    hash.update(`${Buffer.byteLength(file)}:${file}:${content.length}:`).update(content)
  }
  return { metadata, digest: `sha256:${hash.digest('hex')}` }
}

async function readChartYaml(path: string): Promise<string> {
  try {
    return await readFile(join(path, 'Chart.yaml'), 'utf8')
  } catch (error) {
    throw new ChartNotFoundError(`${path} is not a chart: it has no readable Chart.yaml`, { cause: error })
  }
}

async function filesOf(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  if (entries.length > DEFAULT_MAX_CHART_FILES) {
    throw new ChartInvalidError(`chart ${root} has more than ${DEFAULT_MAX_CHART_FILES} files`)
  }
  const files: string[] = []
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if ((await lstat(path)).isSymbolicLink())
      throw new ChartInvalidError(`chart ${root} contains the link ${entry.name}`)
    if (entry.isFile()) files.push(path.slice(root.length + (root.endsWith('/') ? 0 : 1)))
  }
  return files.sort()
}
