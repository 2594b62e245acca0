/** Packs charts, valid and invalid ones. */
import { gzipSync } from 'node:zlib'
import { Header } from 'tar'

/** One entry of an archive. */
export interface PackedEntry {
  readonly path: string
  /** @default empty */
  readonly content?: string | Uint8Array
  /** @default 'File' */
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO'
  readonly linkpath?: string
}

const BLOCK_BYTES = 512

/**
 * A `.tgz` with exactly these entries.
 *
 * @example
 * packEntries([{ path: 'web/Chart.yaml', content: 'name: web\nversion: 1.0.0\n' }])
 */
export function packEntries(entries: readonly PackedEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type = 'File', linkpath }) => {
    const bytes = Buffer.from(content)
    const header = new Header({
      path,
      type,
      size: bytes.length,
      mode: 0o644,
      mtime: new Date(0),
      ...(linkpath && { linkpath }),
    })
    const block = Buffer.alloc(BLOCK_BYTES)
    header.encode(block)
    const padding = Buffer.alloc((BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES)
    return [block, bytes, padding]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]))
}

/**
 * A chart archive with these files; without any, the smallest chart there is.
 *
 * @example
 * const archive = packChart({ name: 'web', version: '1.2.3' }, { 'templates/a.yaml': '…' })
 */
export function packChart(
  chart: { readonly name: string; readonly version: string },
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Buffer {
  const all = { 'Chart.yaml': `apiVersion: v2\nname: ${chart.name}\nversion: ${chart.version}\n`, ...files }
  return packEntries(Object.entries(all).map(([path, content]) => ({ path: `${chart.name}/${path}`, content })))
}
