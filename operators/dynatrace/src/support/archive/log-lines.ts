/** Redacts a log while it streams. */
import type { Redact } from './redaction.ts'

const NEWLINE = 0x0a
/** A longer line is redacted in pieces of about this size. */
const MAX_LINE_BYTES = 256 * 1024
/** Lines are passed on together: compressing each by itself took most of the time of an archive. */
const BLOCK_LENGTH = 64 * 1024

/** A private key that has more lines than this is not one. */
const MAX_KEY_LINES = 200

/**
 * The log without secrets, redacted line by line, in blocks of lines: memory is bounded by a line and a block.
 *
 * *Errors*: those of the log, after everything that came before them.
 */
export async function* redactedLog(log: AsyncIterable<Uint8Array>, redact: Redact): AsyncGenerator<string> {
  const redactLine = withoutPrivateKeys(redact)
  let pending: Buffer = Buffer.alloc(0)
  let block = ''
  let failure: { readonly reason: unknown } | undefined
  const chunks = untilFailure(log, (reason) => {
    failure = { reason }
  })
  for await (const chunk of chunks) {
    pending = Buffer.concat([pending, chunk])
    let start = 0
    for (let end = pending.indexOf(NEWLINE); end !== -1; end = pending.indexOf(NEWLINE, start)) {
      block += redactLine(pending.toString('utf8', start, end + 1))
      start = end + 1
    }
    pending = pending.subarray(start)
    if (pending.length > MAX_LINE_BYTES) {
      const end = pieceOf(pending)
      block += redactLine(pending.toString('utf8', 0, end))
      pending = pending.subarray(end)
    }
    if (block.length < BLOCK_LENGTH) continue
    yield block
    block = ''
  }
  block += redactLine(pending.toString('utf8'))
  if (block !== '') yield block
  if (failure !== undefined) throw failure.reason
}

/** A log that ends where it fails: what came before is worth keeping. */
async function* untilFailure(
  log: AsyncIterable<Uint8Array>,
  onFailure: (reason: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* log
  } catch (reason) {
    onFailure(reason)
  }
}

/** The end of a piece of a long line: after a space, so that no secret is cut in two and missed. */
function pieceOf(line: Buffer): number {
  const space = line.lastIndexOf(0x20)
  return space > 0 ? space + 1 : line.length
}

/** A private key has several lines, of which only the first shows what it is. */
function withoutPrivateKeys(redact: Redact): Redact {
  let keyLines = 0
  return (line) => {
    if (keyLines === 0) {
      if (/-----BEGIN [A-Z ]*PRIVATE KEY-----(?!.*-----END )/.test(line)) keyLines = 1
      return redact(line)
    }
    keyLines = /-----END /.test(line) || keyLines >= MAX_KEY_LINES ? 0 : keyLines + 1
    return ''
  }
}
