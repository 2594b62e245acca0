/**
 * Finds what Helm applies before everything else when it installs a chart: the files in the `crds` folders of the chart and
 * its subcharts. Everything in them is applied, custom resource definitions or not.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Parser } from 'tar'
import { DEFAULT_MAX_CHART_BYTES, DEFAULT_MAX_UNPACKED_BYTES } from '../defaults.ts'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'

/** A file of a chart. */
export interface ChartFile {
  /** Such as `charts/db/crds/backups.yaml`. */
  readonly path: string
  readonly text: string
}

/** Depth of subcharts in subcharts; deeper ones are rejected. */
const MAX_DEPTH = 8

const CRD_FILE = /^(charts\/[^/]+\/)*crds\/.+\.(ya?ml|json)$/i
const PACKED_SUBCHART = /^(charts\/[^/]+\/)*charts\/[^/]+\.tgz$/i

const gunzipBytes = promisify(gunzip)

/**
 * The files in the `crds` folders of a chart on this machine, folder or archive.
 *
 * *Errors*: `ChartNotFoundError`, or `ChartInvalidError` when it cannot be read within limits.
 *
 * @example
 * const objects = (await chartCrds('/charts/web.tgz')).flatMap(({ text }) => manifestObjects(text))
 */
export async function chartCrds(path: string): Promise<readonly ChartFile[]> {
  try {
    const isFolder = (await stat(path)).isDirectory()
    return isFolder ? await inFolder(path) : await inArchive(await readFile(path), '', 0)
  } catch (error) {
    if (error instanceof ChartInvalidError) throw error
    throw new ChartNotFoundError(`chart ${path} cannot be read`, { cause: error })
  }
}

async function inFolder(root: string): Promise<readonly ChartFile[]> {
  const found: ChartFile[] = []
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    const read = () => readFile(join(root, path))
    if (CRD_FILE.test(path)) found.push({ path, text: (await read()).toString('utf8') })
    else if (PACKED_SUBCHART.test(path)) found.push(...(await inArchive(await read(), path, 1)))
  }
  return found
}

/** @param outer where the archive lies in the charts around it; empty for the chart itself */
async function inArchive(bytes: Buffer, outer: string, depth: number): Promise<readonly ChartFile[]> {
  if (depth > MAX_DEPTH) throw new ChartInvalidError(`a chart has subcharts nested more than ${MAX_DEPTH} deep`)
  if (bytes.length > DEFAULT_MAX_CHART_BYTES) {
    throw new ChartInvalidError(`a chart is larger than ${DEFAULT_MAX_CHART_BYTES} bytes`)
  }
  const unpacked = await gunzipBytes(bytes, { maxOutputLength: DEFAULT_MAX_UNPACKED_BYTES }).catch((error: unknown) => {
    throw new ChartInvalidError('a chart cannot be unpacked within limits', { cause: error })
  })
  // An archive may hold several files of one name; Helm applies each of them.
  const files: { readonly path: string; readonly chunks: Buffer[] }[] = []
  const parser = new Parser({
    onReadEntry(entry) {
      const path = pathInChart(entry.path)
      if (CRD_FILE.test(path) || PACKED_SUBCHART.test(path)) {
        const chunks: Buffer[] = []
        files.push({ path, chunks })
        entry.on('data', (chunk: Buffer) => chunks.push(chunk))
      }
      entry.resume()
    },
  })
  // The parser works through bytes that are all there before it returns.
  parser.end(unpacked)
  const found: ChartFile[] = []
  for (const { path, chunks } of files) {
    const content = Buffer.concat(chunks)
    const full = outer === '' ? path : `${outer}/${path}`
    if (CRD_FILE.test(path)) found.push({ path: full, text: content.toString('utf8') })
    else found.push(...(await inArchive(content, full, depth + 1)))
  }
  return found
}

/**
 * The path of an entry as Helm reads it: without the top folder, which has the name of the chart, with either kind of
 * slash, and without empty and `.` segments.
 */
function pathInChart(entry: string): string {
  const [, ...inside] = entry.split(entry.includes('\\') ? '\\' : '/')
  return posix.normalize(inside.join('/'))
}
