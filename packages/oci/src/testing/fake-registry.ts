/** A registry in memory, behind the seam where requests leave the process. */
import { gzipSync } from 'node:zlib'
import { makeTar, type TarEntry } from '@reeve/archives/testing'
import { HttpConnectionError, type OutboundRequest, type OutboundResponse, type Sender } from '@reeve/http'
import { digestOf } from '../digest.ts'
import type { Descriptor, Platform } from '../manifest.ts'

/** How the fake behaves; change it between calls. */
export interface FakeRegistryOptions {
  /** Origin it listens on, such as `https://registry.example`. */
  readonly origin: string
  /** @default 'none' */
  readonly auth?: 'none' | 'basic' | 'bearer'
  /** `user:password` that it accepts. */
  readonly account?: string
}

interface Stored {
  readonly bytes: Buffer
  readonly mediaType: string
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip'

/** A sender that is a registry, and a token server at `/token`. */
export class FakeRegistry implements Sender {
  /** `METHOD url` of every request. */
  readonly seen: string[] = []
  /** Tokens issued; clear it to revoke them. */
  readonly tokens = new Set<string>()
  readonly #options: FakeRegistryOptions
  readonly #stored = new Map<string, Stored>()

  constructor(options: FakeRegistryOptions) {
    this.#options = options
  }

  /** Stores an image and gives the digest of its manifest. */
  addImage(repository: string, tag: string, files: readonly TarEntry[], layerType = LAYER): string {
    const config = Buffer.from(JSON.stringify({ config: { Labels: { version: tag } } }))
    const layer = gzipSync(makeTar(files))
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: this.addBlob(repository, config, 'application/vnd.oci.image.config.v1+json'),
      layers: [this.addBlob(repository, layer, layerType)],
    }
    return this.addManifest(repository, tag, manifest, MANIFEST)
  }

  /** Stores an index over images stored before and gives its digest. */
  addIndex(repository: string, tag: string, images: readonly { digest: string; platform: Platform }[]): string {
    const manifests = images.map(({ digest, platform }) => ({ mediaType: MANIFEST, digest, size: 1, platform }))
    return this.addManifest(repository, tag, { schemaVersion: 2, mediaType: INDEX, manifests }, INDEX)
  }

  addManifest(repository: string, tag: string, content: unknown, mediaType: string): string {
    const bytes = Buffer.from(JSON.stringify(content))
    const digest = digestOf(bytes)
    for (const name of [tag, digest]) this.#stored.set(`/v2/${repository}/manifests/${name}`, { bytes, mediaType })
    return digest
  }

  addBlob(repository: string, bytes: Buffer, mediaType: string): Descriptor {
    const digest = digestOf(bytes)
    this.#stored.set(`/v2/${repository}/blobs/${digest}`, { bytes, mediaType })
    return { mediaType, digest, size: bytes.byteLength }
  }

  /** Replaces stored content without changing its digest. */
  tamper(part: string): void {
    for (const [path, { bytes, mediaType }] of this.#stored) {
      if (path.includes(part)) this.#stored.set(path, { bytes: Buffer.from(bytes.map((byte) => byte ^ 1)), mediaType })
    }
  }

  async send(request: OutboundRequest): Promise<OutboundResponse> {
    const { url, method, headers } = request
    this.seen.push(`${method} ${url.href}`)
    if (url.origin !== this.#options.origin) throw new HttpConnectionError(`${url.host}: refused`, 'connect')
    if (url.pathname === '/token') return this.#token(request)
    if (!this.#isAllowed(headers.authorization)) {
      const challenge = this.#options.auth === 'basic' ? 'Basic realm="x"' : this.#bearerChallenge()
      return jsonResponse(
        url,
        401,
        { errors: [{ code: 'UNAUTHORIZED', message: 'log in' }] },
        { 'www-authenticate': challenge },
      )
    }
    if (url.pathname === '/v2/') return jsonResponse(url, 200, {})
    const [, repository] = /^\/v2\/(.+)\/tags\/list$/.exec(url.pathname) ?? []
    if (repository !== undefined) return this.#tags(url, repository)
    const stored = this.#stored.get(url.pathname)
    if (stored === undefined)
      return jsonResponse(url, 404, { errors: [{ code: 'MANIFEST_UNKNOWN', message: 'no such' }] })
    return { status: 200, headers: { 'content-type': stored.mediaType }, url, body: once(stored.bytes) }
  }

  async close(): Promise<void> {
    this.#stored.clear()
  }

  /** One tag per page: a client that reads only the first page misses the others. */
  #tags(url: URL, repository: string): OutboundResponse {
    const start = `/v2/${repository}/manifests/`
    const names = [...this.#stored.keys()]
      .filter((path) => path.startsWith(start))
      .map((path) => path.slice(start.length))
    const tags = names.filter((name) => !name.includes(':'))
    const at = tags.indexOf(url.searchParams.get('last') ?? '') + 1
    const link = `<${url.pathname}?n=1&last=${tags[at]}>; rel="next"`
    return jsonResponse(
      url,
      200,
      { name: repository, tags: tags.slice(at, at + 1) },
      at + 1 < tags.length ? { link } : {},
    )
  }

  #bearerChallenge(): string {
    return `Bearer realm="${this.#options.origin}/token",service="fake, with comma"`
  }

  #isAllowed(authorization: string | undefined): boolean {
    const { auth = 'none', account = '' } = this.#options
    if (auth === 'none') return true
    if (auth === 'basic') return authorization === `Basic ${Buffer.from(account).toString('base64')}`
    return this.tokens.has(authorization?.replace('Bearer ', '') ?? '')
  }

  #token({ url, headers, body }: OutboundRequest): OutboundResponse {
    const { account = '' } = this.#options
    const isAccount = headers.authorization === `Basic ${Buffer.from(account).toString('base64')}`
    const isRefresh = String(body).includes('refresh_token=identity')
    if (account !== '' && !isAccount && !isRefresh) return jsonResponse(url, 401, { errors: [] })
    const token = `token-${this.tokens.size + 1}-${this.seen.length}`
    this.tokens.add(token)
    return jsonResponse(url, 200, { token, expires_in: 300 })
  }
}

function jsonResponse(
  url: URL,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): OutboundResponse {
  return { status, url, headers, body: once(Buffer.from(JSON.stringify(value))) }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
