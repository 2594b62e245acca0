/**
 * Finds what Helm applies before everything else when it installs a chart: the files in the `crds` folders of the chart and
 * its subcharts. Everything in them is applied, custom resource definitions or not.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import { DEFAULT_MAX_CHART_BYTES } from '../defaults.ts'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import { type ArchiveBudget, archiveBudget, readArchive } from './read-archive.ts'

/** A file of a chart. */
export interface ChartFile {
  /** Such as `charts/db/crds/backups.yaml`. */
  readonly path: string
  readonly text: string
}

/** Depth of subcharts in subcharts; deeper ones are rejected. */
const MAX_DEPTH = 8

/** Most bytes of the files that are returned. */
const MAX_CRD_BYTES = 8 * 1024 * 1024

/** Helm ignores subcharts whose name begins with a dot or an underscore. */
const CRD_FILE = /^(charts\/[^/._][^/]*\/)*crds\/.+\.([yY][aA]?[mM][lL]|[jJ][sS][oO][nN])$/
const PACKED_SUBCHART = /^(charts\/[^/._][^/]*\/)*charts\/[^/._][^/]*\.tgz$/

/** What is searched, and how much more of it. */
interface Search {
  readonly budget: ArchiveBudget
  readonly signal: AbortSignal | undefined
  /** Bytes of files that may still be returned. */
  bytes: number
}

/**
 * The files in the `crds` folders of a chart on this machine, folder or archive.
 *
 * *Errors*: `ChartNotFoundError`, or `ChartInvalidError` when it cannot be read within limits, which hold for the chart with
 * all subcharts; the reason of the signal.
 *
 * @example
 * const objects = (await chartCrds('/charts/web.tgz')).flatMap(({ text }) => manifestObjects(text))
 */
export async function chartCrds(
  path: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly ChartFile[]> {
  const search = { budget: archiveBudget(), signal, bytes: MAX_CRD_BYTES }
  try {
    const isFolder = (await stat(path)).isDirectory()
    return isFolder ? await inFolder(path, search) : await inArchive(await readFile(path), '', 0, search)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ChartInvalidError) throw error
    throw new ChartNotFoundError(`chart ${path} cannot be read`, { cause: error })
  }
}

async function inFolder(root: string, search: Search): Promise<readonly ChartFile[]> {
  const found: ChartFile[] = []
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    const isCrd = CRD_FILE.test(path)
    if (!isCrd && !PACKED_SUBCHART.test(path)) continue
    search.signal?.throwIfAborted()
    const { size } = await stat(join(root, path))
    if (isCrd) charge(search, size)
    else if (size > DEFAULT_MAX_CHART_BYTES) throw tooLarge()
    const content = await readFile(join(root, path))
    if (isCrd) found.push({ path, text: content.toString('utf8') })
    else found.push(...(await inArchive(content, path, 1, search)))
  }
  return found
}

/** @param outer where the archive lies in the charts around it; empty for the chart itself */
async function inArchive(bytes: Buffer, outer: string, depth: number, search: Search): Promise<readonly ChartFile[]> {
  if (depth > MAX_DEPTH) throw new ChartInvalidError(`a chart has subcharts nested more than ${MAX_DEPTH} deep`)
  if (bytes.length > DEFAULT_MAX_CHART_BYTES) throw tooLarge()
  const { budget, signal } = search
  // An archive may hold several files of one name; Helm applies each of them.
  const files: { readonly path: string; readonly chunks: Buffer[] }[] = []
  let packedBytes = 0
  await readArchive(bytes, {
    what: outer === '' ? 'the chart' : `the subchart ${outer}`,
    budget,
    signal,
    onEntry(entry) {
      const path = pathInChart(entry.path)
      const isCrd = CRD_FILE.test(path)
      if (!isCrd && !PACKED_SUBCHART.test(path)) return undefined
      if (isCrd) charge(search, entry.size)
      else packedBytes += entry.size
      if (packedBytes > DEFAULT_MAX_CHART_BYTES) throw tooLarge()
      const chunks: Buffer[] = []
      files.push({ path, chunks })
      entry.on('data', (chunk: Buffer) => chunks.push(chunk))
      return undefined
    },
  })
  const found: ChartFile[] = []
  for (const { path, chunks } of files) {
    const content = Buffer.concat(chunks.splice(0))
    const full = outer === '' ? path : `${outer}/${path}`
    if (CRD_FILE.test(path)) found.push({ path: full, text: content.toString('utf8') })
    else found.push(...(await inArchive(content, full, depth + 1, search)))
  }
  return found
}

function charge(search: Search, bytes: number): void {
  search.bytes -= bytes
  if (search.bytes < 0) {
    throw new ChartInvalidError(`a chart has more than ${MAX_CRD_BYTES} bytes in crds folders, subcharts included`)
  }
}

function tooLarge(): ChartInvalidError {
  return new ChartInvalidError(`a chart is larger than ${DEFAULT_MAX_CHART_BYTES} bytes`)
}

/**
 * The path of an entry as Helm reads it: without the top folder, which has the name of the chart, with either kind of
 * slash, and without empty and `.` segments.
 */
function pathInChart(entry: string): string {
  const [, ...inside] = entry.split(entry.includes('\\') ? '\\' : '/')
  return posix.normalize(inside.join('/'))
}
