/** A sender that responds from a script and records its requests. */
import type { OutboundRequest, OutboundResponse, Sender } from '../outbound.ts'

/** One response, or an error to fail with. */
export type ScriptedResponse =
  | Error
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Uint8Array
    }

/** Responds in the order of the script; the last response repeats. */
export class ScriptedSender implements Sender {
  readonly requests: OutboundRequest[] = []
  readonly #responses: ScriptedResponse[]

  constructor(...responses: ScriptedResponse[]) {
    this.#responses = responses
  }

  async send(request: OutboundRequest): Promise<OutboundResponse> {
    this.requests.push(request)
    const response = this.#responses.length > 1 ? this.#responses.shift() : this.#responses[0]
    if (response === undefined) throw new Error('the script is empty')
    if (response instanceof Error) throw response
    const { status, headers = {}, body = '' } = response
    return { status, headers, url: request.url, body: once(Buffer.from(body)) }
  }

  async close(): Promise<void> {
    this.#responses.length = 0
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes
}
