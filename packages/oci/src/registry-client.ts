/** Reads images from registries: which digest a tag has, what an image consists of, and its content. */
import {
  type ConfiguredProxy,
  DEFAULT_RETRY_POLICY,
  HTTP_DEFAULTS,
  headerValue,
  type OutboundClientOptions,
  openOutbound,
  proxyPasswords,
  readBody,
  reporter,
  SecretFilter,
  type Sender,
  systemClock,
} from '@reeve/http'
import { decodeJson } from '@reeve/http/decode-json'
import { Type } from 'typebox'
import { digestOf, verified, verifyDigest } from './digest.ts'
import { anonymous, type DockerConfig } from './docker-config.ts'
import { formatImageReference, type ImageReference, parseImageReference } from './image-reference.ts'
import {
  type Descriptor,
  type ImageIndex,
  type ImageManifest,
  linuxPlatform,
  MANIFEST_ACCEPT,
  type Platform,
  parseManifest,
  selectPlatform,
} from './manifest.ts'
import { RegistryResponseError } from './registry-error.ts'
import { RegistryExecutor } from './registry-executor.ts'
import type { PlainHttp } from './registry-host.ts'
import { type RegistryCallOptions, RegistrySessions } from './registry-sessions.ts'

/** Options of {@link createRegistryClient}. */
export interface RegistryClientOptions extends OutboundClientOptions {
  /** @default none: all requests are anonymous */
  readonly credentials?: DockerConfig
  /** Mirrors to try before a registry, in this order, by the name of the registry. @default none */
  readonly mirrors?: Readonly<Record<string, readonly string[]>>
  /** @default what the environment variables of the process say */
  readonly proxy?: ConfiguredProxy
  /** Which registries may be reached by plain http. @default 'local' */
  readonly plainHttp?: PlainHttp
}

/** An image for one platform. */
export interface RegistryImage {
  readonly reference: ImageReference
  /** What pins the image: the digest of the index for several platforms, else of the manifest. */
  readonly digest: string
  readonly manifest: ImageManifest
}

/** Reads images, and other artifacts, such as charts. */
export interface RegistryClient extends AsyncDisposable {
  /** The digest that pins what `reference` names now. */
  digest(reference: string | ImageReference, options?: RegistryCallOptions): Promise<string>
  /** The image behind `reference` for a platform. @default Linux on the processor of this machine */
  image(
    reference: string | ImageReference,
    options?: RegistryCallOptions & { readonly platform?: Platform },
  ): Promise<RegistryImage>
  /** The tags of a repository; of one with more than 20,000 the first of them. */
  tags(
    repository: Pick<ImageReference, 'registry' | 'repository'>,
    options?: RegistryCallOptions,
  ): Promise<readonly string[]>
  /** The labels of an image. */
  labels(image: RegistryImage, options?: RegistryCallOptions): Promise<Readonly<Record<string, string>>>
  /** The content of a layer, verified by its digest while it is streamed; it fails at the end if it does not match. */
  blob(
    image: RegistryImage,
    descriptor: Descriptor,
    options?: { readonly signal?: AbortSignal },
  ): AsyncIterable<Uint8Array>
  /** Closes connections; calls in progress are cancelled. */
  close(): Promise<void>
}

/** Maximum size of manifests and configs. */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024

const TAGS_PER_PAGE = 1_000
const MAX_TAG_PAGES = 20
const TagList = Type.Object({ tags: Type.Optional(Type.Array(Type.String())) })

const Config = Type.Object({
  config: Type.Optional(Type.Object({ Labels: Type.Optional(Type.Record(Type.String(), Type.String())) })),
})

/**
 * Makes a client. Nothing is sent before the first call.
 *
 * *Guarantees*: everything that has a digest is verified. No error, log line or report contains a password or a token.
 *
 * @example
 * await using registry = createRegistryClient({ credentials, logger })
 * const pinned = await registry.digest('registry.example.com/team/web:1.2', { signal })
 */
export function createRegistryClient(options: RegistryClientOptions = {}): RegistryClient {
  return new Client(options)
}

class Client implements RegistryClient {
  readonly #sender: Sender
  readonly #sessions: RegistrySessions

  constructor(options: RegistryClientOptions) {
    const { credentials = anonymous, logger, clock = systemClock } = options
    const secrets = new SecretFilter(...credentialSecrets(credentials), ...proxyPasswords(options))
    this.#sender = openOutbound(options)
    const onRequest = reporter(logger, options.onRequest)
    this.#sessions = new RegistrySessions({
      credentials,
      clock,
      secrets,
      logger,
      mirrors: options.mirrors ?? {},
      plainHttp: options.plainHttp ?? 'local',
      clientId: options.userAgent ?? HTTP_DEFAULTS.userAgent,
      random: options.random ?? Math.random,
      policy: options.retries ?? DEFAULT_RETRY_POLICY,
      executor: new RegistryExecutor({ sender: this.#sender, clock, secrets, onRequest }),
    })
  }

  async digest(given: string | ImageReference, options: RegistryCallOptions = {}): Promise<string> {
    return (await this.#manifest(asReference(given), options)).digest
  }

  async image(
    given: string | ImageReference,
    options: RegistryCallOptions & { readonly platform?: Platform } = {},
  ): Promise<RegistryImage> {
    const reference = asReference(given)
    const { digest, content } = await this.#manifest(reference, options)
    if (!('manifests' in content)) return { reference, digest, manifest: content }
    const what = formatImageReference(reference)
    const chosen = selectPlatform(what, content, options.platform ?? linuxPlatform())
    const inner = await this.#manifest({ ...reference, digest: chosen.digest }, options)
    if ('manifests' in inner.content) throw new RegistryResponseError(`${what}: an index inside an index`)
    return { reference, digest, manifest: inner.content }
  }

  labels(
    { reference, manifest }: RegistryImage,
    options: RegistryCallOptions = {},
  ): Promise<Readonly<Record<string, string>>> {
    const what = `config of ${reference.repository}`
    const { digest } = manifest.config
    return this.#sessions.anywhere(reference, what, options, async (session, signal) => {
      const response = await session.get('registry blob', `blobs/${digest}`, { signal })
      const bytes = await readBody(response, MAX_DOCUMENT_BYTES)
      verifyDigest(what, digest, bytes)
      const decoded = decodeJson(Config, bytes)
      if ('problem' in decoded) throw new RegistryResponseError(`${what}: ${decoded.problem}`)
      return decoded.value.config?.Labels ?? {}
    })
  }

  tags(
    repository: Pick<ImageReference, 'registry' | 'repository'>,
    options: RegistryCallOptions = {},
  ): Promise<readonly string[]> {
    const what = `tags of ${repository.repository}`
    return this.#sessions.anywhere(repository, what, options, async (session, signal) => {
      const tags: string[] = []
      let query: string | undefined = `?n=${TAGS_PER_PAGE}`
      for (let page = 0; query !== undefined && page < MAX_TAG_PAGES; page++) {
        const response = await session.get('registry tags', `tags/list${query}`, { signal })
        const decoded = decodeJson(TagList, await readBody(response, MAX_DOCUMENT_BYTES))
        if ('problem' in decoded) throw new RegistryResponseError(`${what}: ${decoded.problem}`)
        tags.push(...(decoded.value.tags ?? []))
        query = nextPage(headerValue(response.headers, 'link'))
      }
      return tags
    })
  }

  async *blob(
    { reference }: RegistryImage,
    descriptor: Descriptor,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array> {
    const what = `blob of ${reference.repository}`
    // The deadline is for opening it. How long reading may take only the caller knows, so that is bounded by the signal.
    const response = await this.#sessions.anywhere(reference, what, signal ? { signal } : {}, (session, opening) => {
      const both = signal === undefined ? opening : AbortSignal.any([signal, opening])
      return session.get('registry blob', `blobs/${descriptor.digest}`, { signal: both })
    })
    yield* verified(what, descriptor, response.body)
  }

  close(): Promise<void> {
    return this.#sender.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #manifest(
    reference: ImageReference,
    options: RegistryCallOptions,
  ): Promise<{ digest: string; content: ImageManifest | ImageIndex }> {
    const what = `manifest of ${reference.repository}`
    const path = `manifests/${reference.digest ?? reference.tag ?? 'latest'}`
    return this.#sessions.anywhere(reference, what, options, async (session, signal) => {
      const response = await session.get('registry manifest', path, { accept: MANIFEST_ACCEPT, signal })
      const bytes = await readBody(response, MAX_DOCUMENT_BYTES)
      if (reference.digest !== undefined) verifyDigest(what, reference.digest, bytes)
      const content = parseManifest(what, bytes, headerValue(response.headers, 'content-type') ?? '')
      return { digest: reference.digest ?? digestOf(bytes), content }
    })
  }
}

function asReference(given: string | ImageReference): ImageReference {
  return typeof given === 'string' ? parseImageReference(given) : given
}

/** `</v2/team/web/tags/list?last=x&n=1000>; rel="next"`: only its query is followed. */
function nextPage(link: string | undefined): string | undefined {
  return /<[^>?]*(\?[^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1]
}

function credentialSecrets(credentials: DockerConfig): readonly (string | undefined)[] {
  return [...credentials.values()].flatMap(({ username = '', password, identityToken, registryToken }) => [
    password,
    // As it travels in a Basic header.
    password && `${username}:${password}`,
    identityToken,
    registryToken,
  ])
}
