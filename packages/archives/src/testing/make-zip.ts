/** Creates ZIPs for tests, valid and malicious. */
import { writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** One entry; a name that ends in `/` is a folder. */
export interface ZipEntry {
  readonly name: string
  readonly content?: string | Uint8Array
  readonly mode?: number
  /** @default true */
  readonly isCompressed?: boolean
}

/** Writes a ZIP with these entries, with any names: the library rejects malicious ones, so they are patched in. */
export async function makeZip(path: string, entries: readonly ZipEntry[]): Promise<void> {
  const zip = new ZipFile()
  const renames: [Buffer, Buffer][] = []
  entries.forEach(({ name, content = '', mode = 0o100644, isCompressed = true }, index) => {
    const isDirectory = name.endsWith('/')
    const length = Buffer.byteLength(name) - (isDirectory ? 1 : 0)
    const stand = `${String(index).padStart(length, 'n').slice(-length)}${isDirectory ? '/' : ''}`
    renames.push([Buffer.from(stand), Buffer.from(name)])
    if (isDirectory) zip.addEmptyDirectory(stand, { mode: mode === 0o100644 ? 0o40755 : mode })
    else zip.addBuffer(Buffer.from(content), stand, { mode, compress: isCompressed })
  })
  zip.end()
  const bytes = await buffer(zip.outputStream)
  for (const [stand, name] of renames) rename(bytes, stand, name)
  await writeFile(path, bytes)
}

/** Names stand right after local headers (30 bytes) and central headers (46 bytes). */
function rename(bytes: Buffer, from: Buffer, to: Buffer): void {
  for (const [signature, nameAt] of [
    ['504b0304', 30],
    ['504b0102', 46],
  ] as const) {
    const marker = Buffer.from(signature, 'hex')
    for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 4)) {
      const isIt = bytes.subarray(at + nameAt, at + nameAt + from.length).equals(from)
      const length = bytes.readUInt16LE(at + nameAt - (nameAt === 30 ? 4 : 18))
      if (isIt && length === from.length) to.copy(bytes, at + nameAt)
    }
  }
}
