/** One call: the request, and what is found out about it. */

import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '@reeve/http'
import { Refusal, violation } from '../refusal.ts'
import type { TenantState } from '../state/tenant-state.ts'

/** A request of the HTTPS server, or one of a client in the same process. */
export interface IncomingCall {
  readonly method?: string | undefined
  /** The path with its query. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The body. */
  [Symbol.asyncIterator](): AsyncIterator<Buffer>
}

/** One request, from routing to the log. */
export class Call {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The query as sent, with its question mark. */
  readonly search: string
  readonly headers: IncomingHttpHeaders
  /** Name of the call; set by the router. */
  operation = 'unknown'
  /** Whether it is a call of the control API, which is not recorded. */
  isOwn = false
  /** Set once the tenant is known. */
  tenant: TenantState | undefined
  /** Name of its token; never the value. */
  tokenName: string | undefined
  /** The body, if a handler read it. */
  bodyText: string | undefined
  /** The kinds of faults that were injected. */
  readonly faults: string[] = []
  readonly #request: IncomingCall
  readonly #maxBodyBytes: number

  constructor(request: IncomingCall, maxBodyBytes: number) {
    const url = new URL(request.url ?? '/', 'https://simulator')
    this.#request = request
    this.#maxBodyBytes = maxBodyBytes
    this.method = request.method ?? 'GET'
    this.path = url.pathname
    this.query = url.searchParams
    this.search = url.search
    this.headers = request.headers
  }

  /** Host and port by which the client reached the simulator. */
  get host(): string {
    return this.headers.host ?? ''
  }

  /** Scheme and value of the `Authorization` header. */
  get credentials(): { readonly scheme: string; readonly value: string } | undefined {
    const [, scheme = '', value = ''] = /^(\S+) *(.*)$/.exec(this.headers.authorization ?? '') ?? []
    return scheme === '' ? undefined : { scheme: scheme.toLowerCase(), value: value.trim() }
  }

  /** The body as text. *Errors*: {@link Refusal} 413 when it is too large, 400 when it is incomplete. */
  async text(): Promise<string> {
    if (this.bodyText !== undefined) return this.bodyText
    const tooLarge = () => new Refusal(413, `The body is larger than ${this.#maxBodyBytes} bytes.`)
    if (Number(this.headers['content-length'] ?? 0) > this.#maxBodyBytes) throw tooLarge()
    const chunks: Buffer[] = []
    let sizeBytes = 0
    try {
      for await (const chunk of this.#request) {
        sizeBytes += chunk.length
        if (sizeBytes > this.#maxBodyBytes) throw tooLarge()
        chunks.push(chunk)
      }
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(400, 'The body is incomplete.')
    }
    this.bodyText = Buffer.concat(chunks, sizeBytes).toString('utf8')
    return this.bodyText
  }

  /** The body as JSON. *Errors*: {@link Refusal} 400 when it is not valid JSON. */
  async json(): Promise<unknown> {
    const text = await this.text()
    try {
      return JSON.parse(text)
    } catch {
      // The parser's message quotes the body, which may hold secrets.
      throw new Refusal(400, 'Could not map JSON: the body is not valid JSON.')
    }
  }

  /** The body as a JSON object. */
  async jsonObject(): Promise<Readonly<Record<string, unknown>>> {
    const value = await this.json()
    if (!isRecord(value)) throw violation('PAYLOAD_BODY', '', 'must be a JSON object')
    return value
  }

  /** The body as the fields of a form. */
  async form(): Promise<URLSearchParams> {
    return new URLSearchParams(await this.text())
  }
}
