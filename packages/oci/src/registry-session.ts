/** One repository at one host: finds out how to speak to it, then sends authenticated requests. */
import { drain, HttpConnectionError, type OutboundResponse } from '@reeve/http'
import { parseChallenge } from './challenge.ts'
import { RegistryAuth, type RegistryAuthOptions } from './registry-auth.ts'
import { type PlainHttp, registryOrigins } from './registry-host.ts'

/** The dependencies of a session. */
export interface RegistrySessionOptions extends Omit<RegistryAuthOptions, 'challenge'> {
  /** Host of the registry, or of its mirror. */
  readonly host: string
  readonly plainHttp: PlainHttp
}

interface Opened {
  readonly origin: string
  readonly auth: RegistryAuth
}

/** A conversation with one repository. */
export class RegistrySession {
  readonly #options: RegistrySessionOptions
  #opened: Opened | undefined

  constructor(options: RegistrySessionOptions) {
    this.#options = options
  }

  /**
   * A GET below the repository, such as `manifests/latest`, that succeeded. A token that is refused is renewed once.
   *
   * *Errors*: `RegistryRefusedError`, `HttpError`.
   */
  async get(
    name: string,
    path: string,
    options: { readonly accept?: string; readonly signal: AbortSignal },
  ): Promise<OutboundResponse> {
    const { executor, repository } = this.#options
    const { accept, signal } = options
    this.#opened ??= await this.#open(signal)
    const { origin, auth } = this.#opened
    const send = async () => {
      const authorization = await auth.authorization(signal)
      const headers = { ...(accept && { accept }), ...(authorization && { authorization }) }
      return executor.send({ name, url: new URL(`${origin}/v2/${repository}/${path}`), headers }, signal)
    }
    let response = await send()
    if (response.status === 401) {
      auth.forget()
      await drain(response)
      response = await send()
    }
    if (response.status !== 200) throw await executor.refusal(name, response)
    return response
  }

  async #open(signal: AbortSignal): Promise<Opened> {
    const { host, plainHttp, executor } = this.#options
    let failure: unknown
    for (const origin of registryOrigins(host, plainHttp)) {
      try {
        const response = await executor.send(
          { name: 'registry ping', url: new URL(`${origin}/v2/`), headers: {} },
          signal,
        )
        const challenge = parseChallenge(response.headers['www-authenticate'])
        if (response.status !== 200 && (response.status !== 401 || challenge === undefined)) {
          throw await executor.refusal('registry ping', response)
        }
        await drain(response)
        const auth = new RegistryAuth({ ...this.#options, challenge: response.status === 401 ? challenge : undefined })
        return { origin, auth }
      } catch (error) {
        // Only a host that could not be reached this way may be reachable the other way.
        if (!(error instanceof HttpConnectionError)) throw error
        // If no way works, the first failure is the one to know: a certificate, not that plain http was cut off.
        failure ??= error
      }
    }
    throw failure
  }
}
