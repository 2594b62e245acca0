/** Reads the JSON body of a request, within a limit. */
import type { IncomingMessage } from 'node:http'
import { parseBoundedJson } from '@reeve/http'
import { CONSOLE_LIMITS } from '../limits.ts'

/** A body that is too large or not JSON; the message is for people. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  readonly status: 400 | 413

  constructor(status: 400 | 413, message: string) {
    super(message)
    this.status = status
  }
}

/** The parsed body. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    // Without an encoding a request emits buffers.
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > CONSOLE_LIMITS.bodyBytes)
      throw new BodyError(413, `the body is larger than ${CONSOLE_LIMITS.bodyBytes} bytes`)
    chunks.push(bytes)
  }
  try {
    return parseBoundedJson(Buffer.concat(chunks))
  } catch {
    throw new BodyError(400, 'the body is not valid JSON')
  }
}
