/** A transport that responds from a script and records its requests. */
import type { Transport, TransportRequest, TransportResponse } from '@reeve/http'

/** One step: a response, or an error to reject with. */
export type Answer = TransportResponse | Error | ((request: TransportRequest) => Promise<TransportResponse>)

/** Responds in the order of the script; the last step repeats. */
export class ScriptedTransport implements Transport {
  readonly requests: TransportRequest[] = []
  isClosed = false
  readonly #answers: Answer[]

  constructor(...answers: Answer[]) {
    this.#answers = answers
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request)
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
    if (answer === undefined) throw new Error('the script is empty')
    if (answer instanceof Error) throw answer
    return typeof answer === 'function' ? answer(request) : answer
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

/** A JSON response. Unlike a real one, its body can be read repeatedly. */
export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): TransportResponse {
  return text(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers })
}

/** A response with any body. */
export function text(
  status: number,
  content: string,
  headers: Readonly<Record<string, string | readonly string[]>> = { 'content-type': 'text/plain' },
): TransportResponse {
  return { status, headers, body: chunks(content) }
}

/** A body in pieces. */
export async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
}

function chunks(content: string): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => pieces(content)[Symbol.asyncIterator]() }
}
