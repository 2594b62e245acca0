/** Header blocks of SPDY/3: names and values, compressed over the whole connection. */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'
import { HEADER_DICTIONARY } from './header-dictionary.ts'

/** Clients of port forwarding send three short headers; more than this is an attack or another protocol. */
const MAX_BLOCK_BYTES = 16 * 1024

/** Names in lower case. */
export type Headers = ReadonlyMap<string, string>

/** Reads the blocks of one direction, in their order. */
export class HeaderReader {
  readonly #inflate: Inflate = createInflate({ dictionary: HEADER_DICTIONARY })
  #output: Buffer[] = []
  #size = 0
  #failure: Error | undefined

  constructor() {
    this.#inflate.on('data', (chunk: Buffer) => {
      this.#size += chunk.length
      if (this.#size <= MAX_BLOCK_BYTES) this.#output.push(chunk)
    })
    this.#inflate.on('error', (error) => {
      this.#failure = error
    })
  }

  /** *Errors*: for a block that is malformed or too large, after which the connection cannot be used. */
  async read(block: Uint8Array): Promise<Headers> {
    if (block.length > MAX_BLOCK_BYTES) throw new Error('the header block is too large')
    this.#output = []
    this.#size = 0
    await new Promise<void>((resolve) => {
      // A malformed block closes the stream without a call of the callback.
      this.#inflate.once('close', resolve)
      this.#inflate.write(block, () => {
        this.#inflate.off('close', resolve)
        resolve()
      })
    })
    if (this.#failure !== undefined) throw this.#failure
    if (this.#size > MAX_BLOCK_BYTES) throw new Error('the header block is too large')
    return parse(Buffer.concat(this.#output))
  }

  close(): void {
    this.#inflate.destroy()
  }
}

/** Writes the blocks of one direction. */
export class HeaderWriter {
  readonly #deflate: Deflate = createDeflate({ dictionary: HEADER_DICTIONARY })
  #output: Buffer[] = []

  constructor() {
    this.#deflate.on('data', (chunk: Buffer) => this.#output.push(chunk))
    // A closed writer is not used again.
    this.#deflate.on('error', () => undefined)
  }

  /** A block without headers, which is all that a server of port forwarding sends. */
  async empty(): Promise<Buffer> {
    this.#output = []
    await new Promise<void>((resolve) => {
      this.#deflate.write(Buffer.alloc(4))
      this.#deflate.flush(constants.Z_SYNC_FLUSH, () => resolve())
    })
    return Buffer.concat(this.#output)
  }

  close(): void {
    this.#deflate.destroy()
  }
}

function parse(bytes: Buffer): Headers {
  const headers = new Map<string, string>()
  let offset = 4
  const text = (): string => {
    const start = offset + 4
    const end = start + bytes.readUInt32BE(offset)
    if (end > bytes.length) throw new RangeError('the header block ends early')
    offset = end
    return bytes.toString('utf8', start, end)
  }
  for (let left = bytes.readUInt32BE(0); left > 0; left -= 1) {
    const name = text()
    headers.set(name.toLowerCase(), text())
  }
  return headers
}
