/** Creates tar archives for tests, block by block, so that they may be malicious. */
import { gzipSync } from 'node:zlib'
import { Header, type HeaderData } from 'tar'

/** One entry: the fields of its header, and its content. */
export interface TarEntry extends Pick<HeaderData, 'linkpath' | 'mode'> {
  readonly path: string
  /** @default 'File' */
  readonly type?: HeaderData['type']
  readonly content?: string
}

/** The archive, not packed. */
export function makeTar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ content = '', type = 'File', mode = 0o644, ...fields }) => {
    const block = Buffer.alloc(512)
    const size = Buffer.byteLength(content)
    new Header({ ...fields, type, mode, size, mtime: new Date(0), uid: 0, gid: 0 }).encode(block)
    const body = Buffer.alloc(Math.ceil(size / 512) * 512)
    body.write(content)
    return [block, body]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

/** The archive as a stream of small chunks, packed. */
export async function* tarGz(entries: readonly TarEntry[]): AsyncGenerator<Uint8Array> {
  yield* inPieces(gzipSync(makeTar(entries)))
}

/** Bytes in odd pieces, as a network delivers them. */
export async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size)
}
