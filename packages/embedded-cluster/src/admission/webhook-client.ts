/** Sends reviews to webhooks: in process where a handler is given, otherwise over verified TLS. */
import { isIP } from 'node:net'
import type { Agent } from 'undici'
import { type Clock, systemClock } from '../clock.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { DeadlineExceeded, withDeadline } from './deadline.ts'
import { explainTransportError } from './transport-errors.ts'

/** Resolves a service to the address it listens on, or `undefined` if there is no such service. */
export type ResolveService = (
  namespace: string,
  name: string,
  port: number,
) => { readonly host: string; readonly port: number } | undefined

/** One call to a webhook, for handlers that respond without a socket. */
export interface WebhookCall {
  /** With the `timeout` parameter, such as `https://hook.default.svc:443/validate?timeout=10s`. */
  readonly url: string
  /** The service behind the webhook; absent when its configuration names a URL. */
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number } | undefined
  /** An AdmissionReview or a ConversionReview. */
  readonly review: JsonObject
  readonly signal: AbortSignal
}

/** Handles a call in process and returns the response review; `undefined` falls back to the network. */
export type CallWebhook = (call: WebhookCall) => Promise<unknown> | undefined

/** For users of `reeve cluster` who see that the Service exists. */
const UNREACHABLE = ': pods are simulated here, so webhooks are called by URL, or where resolveService says'

/** Options of {@link WebhookClient}. */
export interface WebhookClientOptions {
  /** @default no service resolves: only webhooks with a URL can be called */
  readonly resolveService?: ResolveService
  /** @default all calls use the network */
  readonly callWebhook?: CallWebhook
  /** @default the system clock */
  readonly clock?: Clock
  /** Maximum number of open connection pools; the least recently used one is closed. @default 64 */
  readonly maxPools?: number
  /** Larger responses are rejected. @default 16 MiB */
  readonly maxResponseBytes?: number
}

/** The call returned no usable response; `message` has the API server's wording. */
export class WebhookCallError extends Error {
  readonly code = 'WEBHOOK_CALL_FAILED'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WebhookCallError'
  }
}

const MAX_POOLS = 64
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024
const DEFAULT_PORT = 443
/** Maximum length of an error page in messages. */
const MAX_SHOWN_LENGTH = 2048

/** A webhook's `clientConfig`, resolved to the address to connect to. */
interface Target {
  readonly url: URL
  /** For messages: always with the port, which `URL` omits when it is the default. */
  readonly shownUrl: string
  readonly service: WebhookCall['service']
  readonly caBundle: string
}

/**
 * Calls the webhooks of a cluster.
 *
 * *Guarantees*: every call completes within its timeout; certificates are always verified, against the `caBundle` where
 * there is one; at most `maxPools` connection pools stay open.
 *
 * @example
 * const client = new WebhookClient({ resolveService: () => ({ host: '127.0.0.1', port: 8443 }) })
 * const response = await client.post(webhook.clientConfig, review, { timeoutSeconds: 10, signal })
 */
export class WebhookClient {
  readonly #resolveService: ResolveService | undefined
  readonly #callWebhook: CallWebhook
  readonly #clock: Clock
  readonly #maxPools: number
  readonly #maxResponseBytes: number
  /** Least recently used first. */
  readonly #pools = new Map<string, Agent>()

  constructor(options: WebhookClientOptions = {}) {
    this.#resolveService = options.resolveService
    this.#callWebhook = options.callWebhook ?? (() => undefined)
    this.#clock = options.clock ?? systemClock
    this.#maxPools = options.maxPools ?? MAX_POOLS
    this.#maxResponseBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES
  }

  /**
   * Posts `review` and returns the JSON object of the response.
   *
   * *Errors*: `WebhookCallError` when the call fails or times out; the reason of `signal` when that aborts.
   */
  async post(
    clientConfig: JsonObject,
    review: JsonObject,
    options: { readonly timeoutSeconds: number; readonly signal: AbortSignal },
  ): Promise<JsonObject> {
    const target = readTarget(clientConfig, options.timeoutSeconds)
    try {
      return await withDeadline(this.#clock, options.timeoutSeconds * 1000, options.signal, async (signal) => {
        const { service } = target
        // Copies, as over a socket: a handler may freeze the review, and must not share objects of the store.
        const inProcess = this.#callWebhook({ url: target.shownUrl, service, review: structuredClone(review), signal })
        if (inProcess !== undefined) return readResponse(JSON.stringify((await inProcess) ?? null))
        return readResponse(await this.#send(target, JSON.stringify(review), signal))
      })
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason
      if (error instanceof WebhookCallError) throw error
      const text = error instanceof DeadlineExceeded ? error.message : explainTransportError(error)
      throw new WebhookCallError(`Post ${JSON.stringify(target.shownUrl)}: ${text}`, { cause: error })
    }
  }

  /** Closes every connection. Calls in progress fail. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  async #send(target: Target, body: string, signal: AbortSignal): Promise<string> {
    // Importing the HTTP client takes 100 ms: a cluster without webhooks, or with in-process ones, does not need it.
    const { default: undici } = await import('undici')
    const response = await undici.request(target.url, {
      method: 'POST',
      dispatcher: this.#pool(undici, target),
      headers: { 'content-type': 'application/json', accept: 'application/json, */*', 'user-agent': 'kube-apiserver' },
      body,
      signal,
    })
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body) {
      size += chunk.length
      if (size > this.#maxResponseBytes) {
        throw new WebhookCallError(`the webhook responded with more than ${this.#maxResponseBytes} bytes`)
      }
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    if (response.statusCode < 200 || response.statusCode > 299) throw statusError(response.statusCode, text)
    if (text === '') {
      const type = String(response.headers['content-type'] ?? 'application/json')
      throw new WebhookCallError(`0-length response with status code: ${response.statusCode} and content type: ${type}`)
    }
    return text
  }

  #pool(undici: typeof import('undici'), target: Target): Agent {
    const { service } = target
    const address =
      service === undefined ? undefined : this.#resolveService?.(service.namespace, service.name, service.port)
    if (service !== undefined && address === undefined) {
      throw new Error(`service "${service.name}" not found${this.#resolveService === undefined ? UNREACHABLE : ''}`)
    }
    const serverName = target.url.hostname
    const key = JSON.stringify([target.caBundle, serverName, address?.host, address?.port])
    const pool = this.#pools.get(key) ?? openPool(undici, target.caBundle, serverName, address)
    this.#pools.delete(key)
    this.#pools.set(key, pool)
    for (const [oldest, unused] of this.#pools) {
      if (this.#pools.size <= this.#maxPools) break
      this.#pools.delete(oldest)
      // Calls in progress on the pool finish; nothing waits for them.
      void unused.close()
    }
    return pool
  }
}

function openPool(
  undici: typeof import('undici'),
  caBundle: string,
  serverName: string,
  address: ReturnType<ResolveService>,
): Agent {
  const connector = undici.buildConnector({
    // An IP address is checked against the certificate too, but must not be sent as a server name.
    ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
    ...(caBundle === '' ? {} : { ca: caBundle }),
  })
  return new undici.Agent({
    // The URL contains the service's name, which the certificate is checked against; only the connection address
    // differs.
    connect: (options, callback) =>
      connector(
        address === undefined ? options : { ...options, hostname: address.host, port: String(address.port) },
        callback,
      ),
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

function readTarget(clientConfig: JsonObject, timeoutSeconds: number): Target {
  const caBundle =
    typeof clientConfig.caBundle === 'string' ? Buffer.from(clientConfig.caBundle, 'base64').toString('utf8') : ''
  const { service } = clientConfig
  const query = `timeout=${timeoutSeconds}s`
  if (isJsonObject(service)) {
    const port = typeof service.port === 'number' ? service.port : DEFAULT_PORT
    const at = { namespace: String(service.namespace ?? ''), name: String(service.name ?? ''), port }
    const path = typeof service.path === 'string' ? service.path : ''
    const shownUrl = `https://${at.name}.${at.namespace}.svc:${port}${path.startsWith('/') || path === '' ? path : `/${path}`}?${query}`
    return { url: new URL(shownUrl), shownUrl, service: at, caBundle }
  }
  const text = typeof clientConfig.url === 'string' ? clientConfig.url : ''
  const url = URL.parse(text)
  if (url?.protocol !== 'https:')
    throw new WebhookCallError(`the webhook's URL ${JSON.stringify(text)} is not an https URL`)
  url.searchParams.set('timeout', `${timeoutSeconds}s`)
  return { url, shownUrl: `${text.split('?')[0]}${url.search}`, service: undefined, caBundle }
}

const explanations: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  503: 'the server is currently unable to handle the request',
}

function statusError(status: number, body: string): WebhookCallError {
  const shown = body.trim().slice(0, MAX_SHOWN_LENGTH)
  const message = statusMessage(shown)
  if (message !== undefined) return new WebhookCallError(message)
  if (status === 403 && shown !== '') return new WebhookCallError(shown)
  const explanation = explanations[status]
  if (explanation !== undefined) return new WebhookCallError(explanation)
  return new WebhookCallError(
    `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`,
  )
}

/** The message of a `Status` in the body of an error response. */
function statusMessage(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const { kind, apiVersion, message } = JSON.parse(body)
    return kind === 'Status' && apiVersion === 'v1' && typeof message === 'string' ? message : undefined
  } catch {
    // Not JSON: it is shown as it is.
    return undefined
  }
}

function readResponse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new WebhookCallError(`couldn't get version/kind; json parse error: ${why}`, { cause: error })
  }
  if (isJsonObject(value)) return value
  const target =
    'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw new WebhookCallError(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${kind} into ${target}`,
  )
}
