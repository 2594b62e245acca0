/** Sends single requests to registries and their token servers, and turns error responses into exceptions. */
import {
  type Clock,
  followRedirects,
  headerValue,
  type OutboundRequest,
  type OutboundResponse,
  type RequestHook,
  readBeginning,
  readBody,
  retryAfterMs,
  type SecretFilter,
  type Sender,
} from '@reeve/http'
import { decodeJson } from '@reeve/http/decode-json'
import { type Static, type TSchema, Type } from 'typebox'
import { RegistryRefusedError, RegistryResponseError } from './registry-error.ts'

/** One request. */
export interface RegistryRequest {
  /** One of a fixed few, for messages and metrics. */
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Sent as a form by POST. @default a GET */
  readonly form?: Readonly<Record<string, string>>
}

/** The dependencies of an executor. */
export interface RegistryExecutorOptions {
  readonly sender: Sender
  readonly clock: Clock
  readonly secrets: SecretFilter
  readonly onRequest: RequestHook
}

const MAX_ERROR_BYTES = 64 * 1024
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
const MAX_MESSAGE_LENGTH = 500

const ErrorBody = Type.Object({
  errors: Type.Array(Type.Object({ code: Type.Optional(Type.String()), message: Type.Optional(Type.String()) })),
})

/** Sends requests, one try each. */
export class RegistryExecutor {
  readonly #options: RegistryExecutorOptions

  constructor(options: RegistryExecutorOptions) {
    this.#options = options
  }

  /** The response, whatever its status. */
  async send({ name, url, headers, form }: RegistryRequest, signal: AbortSignal) {
    const { sender, clock, onRequest } = this.#options
    const startedAt = clock.now()
    const method = form === undefined ? 'GET' : 'POST'
    const report = (response: { readonly status?: number; readonly errorCode?: string }) =>
      onRequest({ call: name, method, durationMs: clock.now() - startedAt, attempt: 0, ...response })
    try {
      const request: OutboundRequest = {
        method,
        url,
        signal,
        headers: { ...headers, ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) },
        ...(form && { body: new URLSearchParams(form).toString() }),
      }
      // Registries redirect to storage that has its own proof in the URL.
      const response = await followRedirects(sender, request, { authorizationFor: 'same-host' })
      report({ status: response.status })
      return response
    } catch (error) {
      report(error instanceof Error && 'code' in error ? { errorCode: String(error.code) } : {})
      throw error
    }
  }

  /** The body of a successful response, and its content type. */
  async document(request: RegistryRequest, signal: AbortSignal): Promise<{ bytes: Buffer; contentType: string }> {
    const response = await this.send(request, signal)
    if (response.status !== 200) throw await this.refusal(request.name, response)
    const contentType = headerValue(response.headers, 'content-type') ?? ''
    return { bytes: await readBody(response, MAX_DOCUMENT_BYTES), contentType }
  }

  /** A successful response in the shape of `schema`. */
  async json<S extends TSchema>(schema: S, request: RegistryRequest, signal: AbortSignal): Promise<Static<S>> {
    const { bytes } = await this.document(request, signal)
    const decoded = decodeJson(schema, bytes)
    if ('problem' in decoded)
      throw new RegistryResponseError(`${request.name}: ${request.url.host}: ${decoded.problem}`)
    return decoded.value
  }

  /** What a refusal says, in the registry's own words where it has any. */
  async refusal(name: string, response: OutboundResponse): Promise<RegistryRefusedError> {
    const { clock, secrets } = this.#options
    const decoded = decodeJson(ErrorBody, await readBeginning(response, MAX_ERROR_BYTES))
    const first = 'value' in decoded ? decoded.value.errors[0] : undefined
    const message = secrets.clean(first?.message ?? '').slice(0, MAX_MESSAGE_LENGTH)
    const words = { reason: secrets.clean(first?.code ?? ''), message }
    const what = `${name} of ${response.url.host}`
    return new RegistryRefusedError(what, response.status, words, retryAfterMs(response.headers, clock.now()))
  }
}
