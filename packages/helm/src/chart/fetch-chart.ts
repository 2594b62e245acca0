/** Asks a source on the network for a chart. */
import semver from 'semver'
import { ChartInvalidError, ChartRefusedError, DigestMismatchError } from '../errors.ts'
import type { ChartMetadata } from '../release/release.ts'
import { digestOf, parseDigest } from './chart-digest.ts'
import type { OciSource, RepositorySource, UrlSource } from './chart-source.ts'
import { type HttpAnswer, HttpSource } from './fetch-bytes.ts'
import { type ArchiveLimits, inspectArchive } from './inspect-chart.ts'
import { OciRepository } from './oci-registry.ts'
import { basicAuthorization } from './registry-authorization.ts'
import { findInIndex } from './repository-index.ts'

/** A source on the network. */
export type RemoteChartSource = UrlSource | RepositorySource | OciSource

/** How to ask. */
export interface FetchChartOptions {
  readonly isPlainHttpAllowed: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly maxChartBytes: number
  readonly maxIndexBytes: number
  readonly limits: ArchiveLimits
  /** Bytes that are here already; asked before they are fetched. */
  readonly find: (digest: string) => Promise<Buffer | undefined>
}

/** An archive that was checked: it is a chart, and the one that was asked for. */
export interface FetchedChart {
  readonly bytes: Buffer
  readonly digest: string
  readonly metadata: ChartMetadata
  /** They were here already. */
  readonly wasKnown: boolean
}

/** What the archive has to be. */
interface Expectation {
  readonly name?: string
  readonly version?: string
  readonly digest?: string
}

/** The chart that the source has now. `what` names it in errors. */
export async function fetchChart(
  source: RemoteChartSource,
  what: string,
  options: FetchChartOptions,
): Promise<FetchedChart> {
  // Every return waits: the connections are closed as soon as this function is left.
  await using http = new HttpSource({ ...options, ...(source.credentials && { credentials: source.credentials }) })
  if (source.type === 'oci') {
    const repository = new OciRepository(http, source, what)
    const { digest, version } = await repository.find()
    const pull = () => repository.pull(digest, options.maxChartBytes)
    return await complete(what, { name: repository.chartName, version, digest }, pull, options)
  }
  if (source.type === 'repository') return await fromRepository(http, source, what, options)
  const digest = parseDigest(source.digest, `${what}: digest`)
  const url = parseUrl(source.url, what)
  return await complete(
    what,
    { digest },
    () => download(http, url, source, { what, maxBytes: options.maxChartBytes }),
    options,
  )
}

async function fromRepository(http: HttpSource, source: RepositorySource, what: string, options: FetchChartOptions) {
  const base = parseUrl(source.url.replace(/\/*$/, '/'), what)
  const index = await download(http, new URL('index.yaml', base), source, { what, maxBytes: options.maxIndexBytes })
  const entry = findInIndex(index.toString('utf8'), source.chart, source.version || undefined, what)
  const digest = source.digest === undefined ? entry.digest : parseDigest(source.digest, `${what}: digest`)
  const url = URL.parse(entry.url, base.href)
  if (url === null) throw new ChartInvalidError(`${what}: index.yaml has an address that is none`)
  const expected = { name: source.chart, version: entry.version, ...(digest !== undefined && { digest }) }
  // The index may point anywhere; credentials are for the repository alone.
  const credentials = url.origin === base.origin ? source : {}
  return complete(
    what,
    expected,
    () => download(http, url, credentials, { what, maxBytes: options.maxChartBytes }),
    options,
  )
}

/** Gets the bytes unless they are known, and makes sure that they are what they should be. */
async function complete(
  what: string,
  expected: Expectation,
  get: () => Promise<Buffer>,
  options: FetchChartOptions,
): Promise<FetchedChart> {
  const known = expected.digest === undefined ? undefined : await options.find(expected.digest)
  const bytes = known ?? (await get())
  const digest = digestOf(bytes)
  if (expected.digest !== undefined && expected.digest !== digest) {
    throw new DigestMismatchError(what, { expected: expected.digest, actual: digest })
  }
  const metadata = await inspectArchive(bytes, what, options.limits)
  const { name, version } = metadata
  if (expected.name !== undefined && expected.name !== name) {
    throw new ChartInvalidError(`${what}: the archive holds the chart ${name}, not ${expected.name}`)
  }
  if (expected.version !== undefined && semver.compareBuild(expected.version, version) !== 0) {
    throw new ChartInvalidError(`${what}: the archive holds version ${version}, not ${expected.version}`)
  }
  return { bytes, digest, metadata, wasKnown: known !== undefined }
}

async function download(
  http: HttpSource,
  url: URL,
  { credentials }: Pick<UrlSource, 'credentials'>,
  { what, maxBytes }: { readonly what: string; readonly maxBytes: number },
): Promise<Buffer> {
  const authorization =
    credentials?.token === undefined ? basicAuthorization(credentials) : `Bearer ${credentials.token}`
  const answer: HttpAnswer = await http.get(what, {
    url,
    maxBytes,
    ...(authorization !== undefined && { authorization }),
  })
  if (answer.status === 200) return answer.bytes
  throw new ChartRefusedError(`${what}: ${url.host} refuses the credentials; check the Secret`)
}

function parseUrl(text: string, what: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new ChartInvalidError(`${what} is no address`)
  if (url.username !== '' || url.password !== '') {
    throw new ChartInvalidError(`${what}: credentials belong into a Secret, not into the address`)
  }
  return url
}
