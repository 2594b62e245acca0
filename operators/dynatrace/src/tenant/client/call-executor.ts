/** Sends one call of an API: headers, deadline, retries, report, and errors in the server's words. */
import {
  ACCEPTED_ENCODING,
  type ClientLogger,
  type Clock,
  followRedirects,
  headerValue,
  type OutboundRequest,
  type OutboundResponse,
  type RequestHook,
  type RetryPolicy,
  readBeginning,
  readBody,
  repeat,
  reporter,
  retryAfterMs,
  type SecretFilter,
  type Sender,
} from '@reeve/http'
import { type DecodeOptions, decodeJson } from '@reeve/http/decode-json'
import type { Static, TSchema } from 'typebox'
import { CLIENT_DEFAULTS } from './defaults.ts'
import { refusalOf, TenantApiError, TenantResponseError, TenantUnreadableError } from './errors.ts'
import { explainUnreadable, parseServerError, parseServerErrorList } from './server-error.ts'

/** One call. */
export interface Call {
  /** One of a fixed few, for messages and metrics, such as `latest agent version`. */
  readonly name: string
  readonly method: OutboundRequest['method']
  readonly url: URL
  /** Value of the `authorization` header; absent for none. */
  readonly authorization?: string
  /** Header names in lower case. @default none */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the server may process it twice safely. */
  readonly isRepeatable: boolean
  /** Statuses that mean success. @default 200 and 201 */
  readonly success?: readonly number[]
  /** The form of an error response: one error, or (unless it is 401 or 403) a list with one error per object. @default 'one' */
  readonly refusalForm?: 'one' | 'list'
  /** @default true */
  readonly countsAsUnavailable?: boolean
}

/** What bounds a call. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** For everything, retries included. @default a minute; 15 for downloads */
  readonly timeoutMs?: number
}

/** The dependencies of an executor. */
export interface CallExecutorOptions {
  readonly sender: Sender
  readonly clock: Clock
  readonly random: () => number
  readonly logger: ClientLogger
  readonly secrets: SecretFilter
  readonly policy: RetryPolicy
  readonly quotedErrorBytes: number
  readonly onRequest?: RequestHook
}

const SUCCESS: readonly number[] = [200, 201]

/** Executes the calls of one client. */
export class CallExecutor {
  readonly #options: CallExecutorOptions
  readonly #report: RequestHook

  constructor(options: CallExecutorOptions) {
    this.#options = options
    this.#report = reporter(options.logger, options.onRequest)
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get logger(): ClientLogger {
    return this.#options.logger
  }

  /** From now on this value is removed from everything that the server says, because it is about to be sent. */
  protect(secret: string): void {
    this.#options.secrets.add(secret)
  }

  /** The response, which matches `schema`. */
  json<S extends TSchema>(schema: S, call: Call, options: CallOptions & DecodeOptions = {}): Promise<Static<S>> {
    return this.repeat(call, options, CLIENT_DEFAULTS.callTimeoutMs, async (signal, attempt) => {
      const response = await this.open(call, signal, attempt)
      const decoded = decodeJson(schema, await readBody(response), options)
      if ('value' in decoded) return decoded.value
      const type = headerValue(response.headers, 'content-type') ?? 'without type'
      throw new TenantResponseError(call.name, `${decoded.problem} (${response.status}, ${type})`)
    })
  }

  /** Waits for success; the body of the response is read and dropped. */
  async done(call: Call, options: CallOptions = {}): Promise<void> {
    await this.repeat(call, options, CLIENT_DEFAULTS.callTimeoutMs, async (signal, attempt) =>
      readBody(await this.open(call, signal, attempt)),
    )
  }

  /** Runs `work` until it succeeds, within the policy of this client and the deadline of the call. */
  repeat<T>(
    { name, isRepeatable }: Pick<Call, 'name' | 'isRepeatable'>,
    { signal, timeoutMs }: CallOptions,
    defaultTimeoutMs: number,
    work: (signal: AbortSignal, attempt: number) => Promise<T>,
  ): Promise<T> {
    const { clock, random, policy, logger } = this.#options
    return repeat(
      {
        what: name,
        clock,
        random,
        policy,
        isRepeatable,
        refusalOf,
        timeoutMs: timeoutMs ?? defaultTimeoutMs,
        ...(signal && { signal }),
        onRetry: (error, attempt, delayMs) => {
          const reason = error instanceof Error ? error.message : 'unknown'
          logger.warn({ call: name, reason, attempt, delayMs }, 'repeating tenant request')
        },
      },
      work,
    )
  }

  /** One attempt: the response of a call that succeeded, its body not yet read. */
  async open(call: Call, signal: AbortSignal, attempt = 0): Promise<OutboundResponse> {
    const startedAt = this.#options.clock.now()
    const { name, method } = call
    let status: number | undefined
    const report = (error?: unknown) => {
      const durationMs = this.#options.clock.now() - startedAt
      const errorCode = error instanceof Error && 'code' in error ? String(error.code) : undefined
      const outcome = { ...(status !== undefined && { status }), ...(errorCode !== undefined && { errorCode }) }
      this.#report({ call: name, method, durationMs, attempt, ...outcome })
    }
    try {
      const response = await followRedirects(this.#options.sender, compose(call, signal))
      status = response.status
      if (!(call.success ?? SUCCESS).includes(status)) throw await this.#refusal(call, response)
      report()
      return response
    } catch (error) {
      report(error)
      throw error
    }
  }

  async #refusal(call: Call, response: OutboundResponse): Promise<Error> {
    const { clock, secrets, quotedErrorBytes } = this.#options
    const { name, refusalForm = 'one', countsAsUnavailable = true } = call
    const { status, headers } = response
    const clean = (text: string) => secrets.clean(text)
    const bytes = await readRefusal(response)
    const isList = refusalForm === 'list' && status !== 401 && status !== 403
    const server = isList ? parseServerErrorList(bytes, clean) : parseServerError(bytes, clean)
    const askedMs = retryAfterMs(headers, clock.now())
    if (server === undefined) {
      // Secrets are removed before the text is cut: half a token is still half a token.
      const explanation = explainUnreadable(response, bytes, (text) => cut(clean(text), quotedErrorBytes))
      return new TenantUnreadableError(name, status, explanation, askedMs)
    }
    const options = { countsAsUnavailable, ...(askedMs !== undefined && { retryAfterMs: askedMs }) }
    return new TenantApiError(name, status, server, options)
  }
}

function compose(call: Call, signal: AbortSignal): OutboundRequest {
  const { method, url, authorization, headers, body } = call
  return {
    method,
    url,
    signal,
    headers: {
      'accept-encoding': ACCEPTED_ENCODING,
      ...headers,
      ...(authorization !== undefined && { authorization }),
    },
    ...(body !== undefined && { body }),
  }
}

async function readRefusal(response: OutboundResponse): Promise<Uint8Array> {
  const isPacked = headerValue(response.headers, 'content-encoding') !== undefined
  // Only complete responses can be decompressed; a compressed error beyond the bound is not readable.
  return isPacked
    ? readBody(response, CLIENT_DEFAULTS.maxErrorBytes).catch(() => new Uint8Array())
    : readBeginning(response, CLIENT_DEFAULTS.maxErrorBytes)
}

function cut(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString('utf8')
}
