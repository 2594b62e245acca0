/** Bytes that resemble a program, are deterministic and can be read from any position. */
import { createHash } from 'node:crypto'
import type { ByteSource } from '../http/response.ts'

/** Size of a chunk: large ones cost less per byte. */
const BLOCK_BYTES = 256 * 1024
/** Every page of this size begins with its number. */
const PAGE_BYTES = 4 * 1024

/**
 * Bytes of a file that is never stored. Pages are numbered, so that a wrongly assembled download differs.
 *
 * @example
 * const library = deterministicBytes('liboneagentjava.so', 1_000_000)
 */
export function deterministicBytes(seed: string, sizeBytes: number): ByteSource {
  return { sizeBytes, read: (start, end) => blocks(seed, start, Math.min(end, sizeBytes)) }
}

function* blocks(seed: string, start: number, end: number): Generator<Buffer> {
  const template = templateOf(seed, end)
  for (let position = start; position < end; ) {
    const number = Math.floor(position / BLOCK_BYTES)
    // A fresh copy each time: the one before may still be waiting in a socket.
    const block = Buffer.from(template)
    for (let page = 0; page < block.length; page += PAGE_BYTES) {
      block.writeUInt32BE((number * BLOCK_BYTES + page) / PAGE_BYTES, page)
    }
    const offset = position - number * BLOCK_BYTES
    const piece = block.subarray(offset, Math.min(BLOCK_BYTES, offset + end - position))
    yield piece
    position += piece.length
  }
}

/** As many whole pages as are read up to `end`: of a small file not the whole block. */
function templateOf(seed: string, end: number): Buffer {
  const outputLength = Math.min(BLOCK_BYTES, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES)
  return createHash('shake256', { outputLength }).update(seed).digest()
}

/** Bytes that are in memory. */
export function bytesOf(content: string | Buffer): ByteSource {
  const buffer = Buffer.from(content)
  return { sizeBytes: buffer.length, read: (start, end) => [buffer.subarray(start, end)] }
}
