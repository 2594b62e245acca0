/** Gets bytes over HTTPS from servers that are not trusted beyond their certificate. */
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { ChartInvalidError, ChartNotFoundError, ChartRefusedError, ChartUnreachableError } from '../errors.ts'
import type { ChartCredentials } from './chart-source.ts'

const MAX_REDIRECTS = 5

/** How a source is reached. */
export interface HttpAccess {
  readonly credentials?: ChartCredentials
  /** Addresses with `http:` are refused unless this is set. */
  readonly isPlainHttpAllowed: boolean
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** What to get. */
export interface HttpQuestion {
  readonly url: URL
  readonly maxBytes: number
  readonly accept?: string
  /** Sent to the address itself, and not on to another host that it redirects to. */
  readonly authorization?: string
}

/** What came. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

/** Connections to one source, for as long as it takes to ask it. */
export class HttpSource implements AsyncDisposable {
  readonly #access: HttpAccess
  readonly #dispatcher: Dispatcher

  constructor(access: HttpAccess) {
    this.#access = access
    const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = access.credentials ?? {}
    const tls = { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key }) }
    const { env } = access
    const proxies = {
      httpProxy: env.HTTP_PROXY ?? env.http_proxy ?? '',
      httpsProxy: env.HTTPS_PROXY ?? env.https_proxy ?? '',
      noProxy: env.NO_PROXY ?? env.no_proxy ?? '',
    }
    const hasProxy = proxies.httpProxy !== '' || proxies.httpsProxy !== ''
    this.#dispatcher = hasProxy
      ? new EnvHttpProxyAgent({ ...proxies, connect: tls, requestTls: tls })
      : new Agent({ connect: tls })
  }

  /** The answer, if it is a good one or `401`; other refusals become errors that name `what`. */
  async get(what: string, question: HttpQuestion): Promise<HttpAnswer> {
    const answer = await this.#follow(what, question)
    const { status } = answer
    if (status === 200 || status === 401) return answer
    const said = `${what}: ${question.url.host} answered ${status}`
    if (status === 403 || status === 407) throw new ChartRefusedError(`${said}; check the credentials`)
    if (status === 404 || status === 410) throw new ChartNotFoundError(said)
    throw new ChartUnreachableError(said)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy()
  }

  async #follow(what: string, question: HttpQuestion): Promise<HttpAnswer> {
    let { url } = question
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      this.#check(what, url)
      const isSameOrigin = url.origin === question.url.origin
      const { authorization, ...rest } = question
      const answer = await this.#request(what, {
        ...rest,
        url,
        ...(isSameOrigin && authorization && { authorization }),
      })
      const location = answer.headers.location
      if (![301, 302, 303, 307, 308].includes(answer.status) || typeof location !== 'string') return answer
      const next = URL.parse(location, url.href)
      if (next === null) throw new ChartInvalidError(`${what}: ${url.host} redirects to an address that is none`)
      url = next
    }
    throw new ChartInvalidError(`${what}: more than ${MAX_REDIRECTS} redirects`)
  }

  #check(what: string, url: URL): void {
    const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && this.#access.isPlainHttpAllowed)
    if (!isAllowed) throw new ChartRefusedError(`${what}: ${url.protocol}//${url.host} is not https`)
  }

  async #request(what: string, { url, maxBytes, accept, authorization }: HttpQuestion): Promise<HttpAnswer> {
    const { signal } = this.#access
    try {
      const { statusCode, headers, body } = await this.#dispatcher.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: { ...(accept && { accept }), ...(authorization && { authorization }) },
        signal,
      })
      return { status: statusCode, headers, bytes: await readBounded(body, maxBytes, what) }
    } catch (error) {
      if (error instanceof ChartInvalidError) throw error
      signal.throwIfAborted()
      throw new ChartUnreachableError(`${what}: ${url.host} cannot be reached (${causeOf(error)})`, { cause: error })
    }
  }
}

async function readBounded(body: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    // Leaving the loop destroys the stream, and with it the rest.
    if (bytes > maxBytes) throw new ChartInvalidError(`${what} is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function causeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause'
}
