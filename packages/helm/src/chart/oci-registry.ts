/** Pulls charts from an OCI registry: the few requests of the distribution API that it takes. */
import { isRecord } from '@reeve/kube'
import { ChartInvalidError, ChartNotFoundError, ChartRefusedError, DigestMismatchError } from '../errors.ts'
import { textAt } from '../json-shape.ts'
import { digestOf, parseDigest } from './chart-digest.ts'
import type { OciSource } from './chart-source.ts'
import { chooseVersion, isExactVersion } from './choose-version.ts'
import type { HttpSource } from './fetch-bytes.ts'
import { authorize, basicAuthorization } from './registry-authorization.ts'

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'
const CHART_LAYER_TYPES = ['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip']
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
const MAX_TAG_PAGES = 20

/** Which chart a reference stands for. */
export interface OciChart {
  readonly version: string
  /** Of the archive. */
  readonly digest: string
}

/** One repository of a registry. */
export class OciRepository {
  readonly #http: HttpSource
  readonly #source: OciSource
  readonly #what: string
  readonly #base: URL
  #authorization: string | undefined

  constructor(http: HttpSource, source: OciSource, what: string) {
    this.#http = http
    this.#source = source
    this.#what = what
    this.#base = repositoryUrl(source, what)
    this.#authorization = source.credentials?.token === undefined ? undefined : `Bearer ${source.credentials.token}`
  }

  /** The name that a chart in this repository must have. */
  get chartName(): string {
    return this.#base.pathname.split('/').at(-1) ?? ''
  }

  /** Finds the version to use and the digest of its archive. */
  async find(): Promise<OciChart> {
    const { version: wanted, digest: pinned } = this.#source
    const version = isExactVersion(wanted) ? wanted : chooseVersion(await this.#versions(), wanted)
    if (version === undefined) {
      throw new ChartNotFoundError(`${this.#what}: no version matches "${wanted ?? ''}" (pre-releases must be named)`)
    }
    // A tag may not contain "+", so Helm writes "_" for it.
    const manifest = await this.#get(`manifests/${version.replaceAll('+', '_')}`, MAX_DOCUMENT_BYTES, MANIFEST_TYPE)
    const digest = this.#chartLayer(manifest.bytes)
    if (pinned !== undefined) {
      const expected = parseDigest(pinned, `${this.#what}: digest`)
      if (![digest, digestOf(manifest.bytes)].includes(expected)) {
        throw new DigestMismatchError(this.#what, { expected, actual: digest })
      }
    }
    return { version, digest }
  }

  /** The archive of that digest; whether it is, the caller checks. */
  async pull(digest: string, maxBytes: number): Promise<Buffer> {
    return (await this.#get(`blobs/${digest}`, maxBytes)).bytes
  }

  async #versions(): Promise<readonly string[]> {
    const tags: string[] = []
    let path: string | undefined = 'tags/list?n=1000'
    for (let page = 0; path !== undefined && page < MAX_TAG_PAGES; page++) {
      const answer = await this.#get(path, MAX_DOCUMENT_BYTES)
      const { tags: found } = this.#parse(answer.bytes)
      if (Array.isArray(found)) tags.push(...found.filter((tag) => typeof tag === 'string'))
      path = nextPage(answer.headers.link)
    }
    return tags.map((tag) => tag.replaceAll('_', '+'))
  }

  #chartLayer(manifest: Buffer): string {
    const { layers } = this.#parse(manifest)
    const layer = (Array.isArray(layers) ? layers.filter(isRecord) : []).find(({ mediaType }) =>
      CHART_LAYER_TYPES.some((type) => type === mediaType),
    )
    const digest = layer === undefined ? undefined : textAt(layer, 'digest')
    if (digest === undefined) throw new ChartInvalidError(`${this.#what} is no chart: its manifest has no chart layer`)
    return parseDigest(digest, `${this.#what}: digest of the chart layer`)
  }

  #parse(bytes: Buffer): Readonly<Record<string, unknown>> {
    try {
      const value: unknown = JSON.parse(bytes.toString('utf8'))
      if (isRecord(value)) return value
    } catch {
      // Said below: to the reader it is all the same what else it is.
    }
    throw new ChartInvalidError(`${this.#what}: the registry did not answer with a JSON object`)
  }

  async #get(path: string, maxBytes: number, accept?: string) {
    const url = new URL(`${this.#base.href}/${path}`)
    const ask = () =>
      this.#http.get(this.#what, {
        url,
        maxBytes,
        ...(accept !== undefined && { accept }),
        ...(this.#authorization !== undefined && { authorization: this.#authorization }),
      })
    const first = await ask()
    if (first.status !== 401) return first
    this.#authorization = await authorize(this.#http, first.headers['www-authenticate'], {
      what: this.#what,
      basic: basicAuthorization(this.#source.credentials),
    })
    const second = await ask()
    if (second.status !== 401) return second
    throw new ChartRefusedError(`${this.#what}: the registry refuses the credentials; check the Secret`)
  }
}

function repositoryUrl({ url, plainHttp }: OciSource, what: string): URL {
  const [, host, path] = /^oci:\/\/([^/@\s]+)\/([a-zA-Z0-9._/-]+?)\/?$/.exec(url) ?? []
  const isPath = path !== undefined && !path.split('/').some((part) => part === '' || part === '.' || part === '..')
  const base = isPath ? URL.parse(`${plainHttp ? 'http' : 'https'}://${host}/v2/${path}`) : null
  if (base === null) throw new ChartInvalidError(`${what} is no address: write oci://registry/path/chart`)
  return base
}

/** `</v2/charts/web/tags/list?last=x&n=1000>; rel="next"`: only its query is followed. */
function nextPage(link: string | string[] | undefined): string | undefined {
  const [, query] = /<[^>?]*(\?[^>]*)>\s*;\s*rel="?next"?/.exec(String(link ?? '')) ?? []
  return query === undefined ? undefined : `tags/list${query}`
}
