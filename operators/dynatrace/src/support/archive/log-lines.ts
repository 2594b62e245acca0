/** Redacts a log while it streams. */
import type { Redact } from './redaction.ts'

const NEWLINE = 0x0a
/** A longer line is redacted in pieces of this size. */
const MAX_LINE_BYTES = 256 * 1024
/** Lines are passed on together: compressing each by itself took most of the time of an archive. */
const BLOCK_LENGTH = 64 * 1024

/** The log without secrets, redacted line by line, in blocks of lines: memory is bounded by a line and a block. */
export async function* redactedLog(log: AsyncIterable<Uint8Array>, redact: Redact): AsyncGenerator<string> {
  let pending: Buffer = Buffer.alloc(0)
  let block = ''
  for await (const chunk of log) {
    pending = Buffer.concat([pending, chunk])
    let start = 0
    for (let end = pending.indexOf(NEWLINE); end !== -1; end = pending.indexOf(NEWLINE, start)) {
      block += redact(pending.toString('utf8', start, end + 1))
      start = end + 1
    }
    pending = pending.subarray(start)
    if (pending.length > MAX_LINE_BYTES) {
      block += redact(pending.toString('utf8'))
      pending = Buffer.alloc(0)
    }
    if (block.length < BLOCK_LENGTH) continue
    yield block
    block = ''
  }
  block += redact(pending.toString('utf8'))
  if (block !== '') yield block
}
