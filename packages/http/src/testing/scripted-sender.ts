/** A sender that answers from a script and remembers what it was asked. */
import type { OutboundRequest, OutboundResponse, Sender } from '../outbound.ts'

/** One answer, or an error to fail with. */
export type ScriptedAnswer =
  | Error
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Uint8Array
    }

/** Answers in the order of the script; the last answer repeats. */
export class ScriptedSender implements Sender {
  readonly requests: OutboundRequest[] = []
  readonly #answers: ScriptedAnswer[]

  constructor(...answers: ScriptedAnswer[]) {
    this.#answers = answers
  }

  async send(request: OutboundRequest): Promise<OutboundResponse> {
    this.requests.push(request)
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
    if (answer === undefined) throw new Error('the script is empty')
    if (answer instanceof Error) throw answer
    const { status, headers = {}, body = '' } = answer
    return { status, headers, url: request.url, body: once(Buffer.from(body)) }
  }

  async close(): Promise<void> {
    this.#answers.length = 0
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes
}
