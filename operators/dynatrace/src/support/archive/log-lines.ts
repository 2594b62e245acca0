/** Redacts a log while it streams. */
import type { Redact } from './redaction.ts'

const NEWLINE = 0x0a
/** A longer line is redacted in pieces of this size. */
const MAX_LINE_BYTES = 256 * 1024

/** The log without secrets, line by line: memory is bounded by one line. */
export async function* redactedLog(log: AsyncIterable<Uint8Array>, redact: Redact): AsyncGenerator<string> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of log) {
    pending = Buffer.concat([pending, chunk])
    let start = 0
    for (let end = pending.indexOf(NEWLINE); end !== -1; end = pending.indexOf(NEWLINE, start)) {
      yield redact(pending.toString('utf8', start, end + 1))
      start = end + 1
    }
    pending = pending.subarray(start)
    if (pending.length > MAX_LINE_BYTES) {
      yield redact(pending.toString('utf8'))
      pending = Buffer.alloc(0)
    }
  }
  if (pending.length > 0) yield redact(pending.toString('utf8'))
}
