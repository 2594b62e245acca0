/** A chart repository and an OCI registry in one HTTPS server, with a private certificate and, optionally, a password. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'

/** Required to read. @default everyone may read */
export interface ServerLogin {
  readonly username: string
  readonly password: string
}

interface Reply {
  readonly status: number
  readonly body?: Buffer | string
  readonly headers?: Readonly<Record<string, string>>
}

const TOKEN = 'token-of-the-registry'
const NOT_FOUND: Reply = { status: 404 }

/**
 * Serves charts until it is stopped, at `repository` and `oci(name)`; `certificate` has to be trusted.
 *
 * @example
 * await using server = await ChartServer.start()
 * server.add('web', '1.0.0', packChart({ name: 'web', version: '1.0.0' }))
 */
export class ChartServer implements AsyncDisposable {
  /** Address and port; they stay when the server stops. */
  readonly host: string
  /** PEM, to be trusted. */
  readonly certificate: string
  readonly #server: Server
  readonly #login: ServerLogin | undefined
  readonly #charts: { readonly name: string; readonly version: string; readonly bytes: Buffer }[] = []
  /** Requested paths, in order. */
  readonly requests: string[] = []
  /** Replaces the response for some paths. */
  readonly overrides = new Map<string, Reply>()

  private constructor(server: Server, certificate: string, login: ServerLogin | undefined) {
    this.#server = server
    // A TCP server that listens has an address of this kind.
    const { address, port } = server.address() as AddressInfo
    this.host = `${address}:${port}`
    this.certificate = certificate
    this.#login = login
    server.on('request', (request, response) => this.#respond(request, response))
  }

  /** Listens on a free port of an address; without a log-in everyone may read. */
  static async start(login?: ServerLogin, address = '127.0.0.1'): Promise<ChartServer> {
    // Loaded only now: users of records or archives do not load certificates.
    const { ownCertificate } = await import('./own-certificate.ts')
    const { certificate, key } = await ownCertificate(address)
    const server = createServer({ cert: certificate, key })
    server.listen(0, address)
    await once(server, 'listening')
    return new ChartServer(server, certificate, login)
  }

  /** The address of the chart repository. */
  get repository(): string {
    return `https://${this.host}/charts`
  }

  /** The address of a chart of the registry. */
  oci(name: string): string {
    return `oci://${this.host}/team/${name}`
  }

  /** Offers a chart from now on. */
  add(name: string, version: string, bytes: Buffer): void {
    this.#charts.push({ name, version, bytes })
  }

  /** What `helm push` prints. */
  manifestDigest(name: string, version: string): string {
    const chart = this.#charts.find((candidate) => candidate.name === name && candidate.version === version)
    if (chart === undefined) throw new Error(`there is no ${name} ${version}`)
    return `sha256:${sha256(manifestOf(chart))}`
  }

  /** Closes every connection and refuses new ones. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.stop()
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', `https://${this.host}`)
    this.requests.push(url.pathname)
    const { status, body = '', headers = {} } = this.#reply(url, request.headers.authorization)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }

  #reply(url: URL, authorization: string | undefined): Reply {
    const path = url.pathname
    const override = this.overrides.get(path)
    if (override !== undefined) return override
    const isKnown = this.#login === undefined || authorization === basic(this.#login)
    if (path === '/token') return isKnown ? json({ token: TOKEN }) : { status: 401 }
    if (path.startsWith('/v2/')) {
      if (this.#login === undefined || authorization === `Bearer ${TOKEN}`) return this.#registry(url)
      const challenge = `Bearer realm="https://${this.host}/token",service="test",scope="repository:x:pull"`
      return { status: 401, headers: { 'www-authenticate': challenge } }
    }
    return isKnown ? this.#repository(path) : { status: 401, headers: { 'www-authenticate': 'Basic realm="charts"' } }
  }

  #repository(path: string): Reply {
    if (path === '/charts/index.yaml') {
      const entries = Object.groupBy(this.#charts, ({ name }) => name)
      const rows = Object.entries(entries).map(([name, charts = []]) => [
        name,
        charts.map(({ version, bytes }) => ({
          name,
          version,
          apiVersion: 'v2',
          urls: [`files/${name}-${version}.tgz`],
          digest: sha256(bytes),
        })),
      ])
      return json({ apiVersion: 'v1', entries: Object.fromEntries(rows) })
    }
    const chart = this.#charts.find(({ name, version }) => path === `/charts/files/${name}-${version}.tgz`)
    return chart === undefined ? NOT_FOUND : { status: 200, body: chart.bytes }
  }

  #registry(url: URL): Reply {
    if (url.pathname === '/v2/') return json({})
    const [, name, kind, reference] = /^\/v2\/team\/([^/]+)\/(tags|manifests|blobs)\/(.+)$/.exec(url.pathname) ?? []
    const charts = this.#charts.filter((chart) => chart.name === name)
    if (kind === 'tags')
      return this.#tags(
        name ?? '',
        charts.map(({ version }) => tagOf(version)),
        url,
      )
    if (kind === 'blobs') {
      const blob = charts
        .flatMap((chart) => [chart.bytes, configOf(chart)])
        .find((bytes) => reference === `sha256:${sha256(bytes)}`)
      return blob === undefined ? NOT_FOUND : { status: 200, body: blob }
    }
    const found = charts.find((chart) =>
      [tagOf(chart.version), `sha256:${sha256(manifestOf(chart))}`].includes(reference ?? ''),
    )
    if (found === undefined) return NOT_FOUND
    const manifest = manifestOf(found)
    const digest = `sha256:${sha256(manifest)}`
    return { status: 200, body: manifest, headers: { 'content-type': MANIFEST, 'docker-content-digest': digest } }
  }

  /** One tag per page: a client that reads only the first page chooses wrongly. */
  #tags(name: string, tags: readonly string[], url: URL): Reply {
    const at = tags.indexOf(url.searchParams.get('last') ?? '') + 1
    const link = `</v2/team/${name}/tags/list?n=1&last=${tags[at]}>; rel="next"`
    return json({ name, tags: tags.slice(at, at + 1) }, at + 1 < tags.length ? { link } : {})
  }
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

interface StoredChart {
  readonly name: string
  readonly version: string
  readonly bytes: Buffer
}

function configOf({ name, version }: StoredChart): Buffer {
  return Buffer.from(JSON.stringify({ apiVersion: 'v2', name, version }))
}

function manifestOf(chart: StoredChart): Buffer {
  const descriptor = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: `sha256:${sha256(bytes)}`,
    size: bytes.length,
  })
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: descriptor('application/vnd.cncf.helm.config.v1+json', configOf(chart)),
      layers: [descriptor('application/vnd.cncf.helm.chart.content.v1.tar+gzip', chart.bytes)],
    }),
  )
}

function tagOf(version: string): string {
  return version.replaceAll('+', '_')
}

function json(value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, body: JSON.stringify(value), headers: { 'content-type': 'application/json', ...headers } }
}

function basic({ username, password }: ServerLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
