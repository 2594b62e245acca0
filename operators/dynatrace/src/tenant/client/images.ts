/** Which public images a tenant recommends. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import type { ClassicApi } from './classic-api.ts'

/** An image in a public registry. */
export interface PublicImage {
  /** Repository with its registry. */
  readonly source: string
  readonly tag: string
}

const Response = Type.Object({ source: Type.Optional(Type.String()), tag: Type.Optional(Type.String()) })

/** `source:tag`. */
export const imageUri = ({ source, tag }: PublicImage): string => `${source}:${tag}`

/** Calls about images. They use the API token even where a PaaS token exists. */
export class ImageCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /** The agent for hosts. */
  oneAgent(options?: CallOptions): Promise<PublicImage> {
    return this.#latest('latest OneAgent image', 'agent/oneAgent', options)
  }

  /** The code modules. */
  codeModules(options?: CallOptions): Promise<PublicImage> {
    return this.#latest('latest code modules image', 'agent/codeModules', options)
  }

  /** The gateway. */
  activeGate(options?: CallOptions): Promise<PublicImage> {
    return this.#latest('latest ActiveGate image', 'gateway', options)
  }

  async #latest(name: string, component: string, options: CallOptions = {}): Promise<PublicImage> {
    const call = this.#api.call({
      name,
      path: `/v1/deployment/image/${component}/latest`,
      token: 'api',
      acceptsJson: true,
      // A GET with a body is odd; tenants have always been sent this one, and ignore it.
      body: { source: '', tag: '' },
      declaresJson: false,
    })
    const { source = '', tag = '' } = await this.#executor.json(Response, call, options)
    return { source, tag }
  }
}
