/** A call under way: what was asked, and what becomes known about it. */

import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '@reeve/kube'
import type { TenantState } from '../state/tenant-state.ts'
import { Refusal, violation } from './refusal.ts'

/** What a call is made from: the request of a server, or one that never left the process. */
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
  /** The query as it was written, with its question mark. */
  readonly search: string
  readonly headers: IncomingHttpHeaders
  /** Which call of which API it is; set by the router. */
  operation = 'unknown'
  /** Whether it concerns the simulator itself and is not written down. */
  isOwn = false
  /** Set once the tenant is known. */
  tenant: TenantState | undefined
  /** Name of the token it came with; never its value. */
  tokenName: string | undefined
  /** What was sent along, as far as a handler read it. */
  bodyText: string | undefined
  /** The kinds of faults that were applied. */
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

  /** The body as text. *Errors*: {@link Refusal} 413 when it is too large, 400 when it breaks off. */
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
      throw error instanceof Refusal ? error : new Refusal(400, 'The body broke off.')
    }
    this.bodyText = Buffer.concat(chunks, sizeBytes).toString('utf8')
    return this.bodyText
  }

  /** The body as JSON. *Errors*: {@link Refusal} 400 when it is none. */
  async json(): Promise<unknown> {
    const text = await this.text()
    try {
      return JSON.parse(text)
    } catch {
      // The parser's message quotes the body, which may hold secrets.
      throw new Refusal(400, 'Could not map JSON: the body is no valid JSON.')
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
