/** Fetches a chart from a remote source. */
import type { Sender } from '@reeve/http'
import { digestOf } from '@reeve/oci'
import semver from 'semver'
import { ChartInvalidError, DigestMismatchError } from '../errors.ts'
import type { ChartMetadata } from '../release/release.ts'
import { parseDigest } from './chart-digest.ts'
import { download, openSource } from './chart-http.ts'
import type { OciSource, RepositorySource, UrlSource } from './chart-source.ts'
import { type ArchiveLimits, inspectArchive } from './inspect-chart.ts'
import { findOciChart } from './oci-chart.ts'
import { findInIndex } from './repository-index.ts'

/** A source on the network. */
export type RemoteChartSource = UrlSource | RepositorySource | OciSource

/** Options of a request. */
export interface FetchChartOptions {
  readonly isPlainHttpAllowed: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly maxChartBytes: number
  readonly maxIndexBytes: number
  readonly limits: ArchiveLimits
  /** Cached bytes, checked before a download. */
  readonly find: (digest: string) => Promise<Buffer | undefined>
}

/** An archive that was checked: it is a chart, and the requested one. */
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
  const sender = openSource(what, { ...options, ...(source.credentials && { credentials: source.credentials }) })
  try {
    return await fetchFrom(sender, source, what, options)
  } finally {
    await sender.close()
  }
}

async function fetchFrom(
  sender: Sender,
  source: RemoteChartSource,
  what: string,
  options: FetchChartOptions,
): Promise<FetchedChart> {
  const { signal, maxChartBytes: maxBytes } = options
  if (source.type === 'oci') {
    const { name, version, digest, pull } = await findOciChart(source, { sender, what, signal })
    return complete(what, { name, version, digest }, () => pull(maxBytes), options)
  }
  if (source.type === 'repository') return fromRepository(sender, source, what, options)
  const digest = parseDigest(source.digest, `${what}: digest`)
  const request = { what, url: parseUrl(source.url, what), maxBytes, signal, ...authorizationOf(source) }
  return complete(what, { digest }, () => download(sender, request), options)
}

async function fromRepository(
  sender: Sender,
  source: RepositorySource,
  what: string,
  options: FetchChartOptions,
): Promise<FetchedChart> {
  const { signal, maxIndexBytes, maxChartBytes } = options
  const base = parseUrl(source.url.replace(/\/*$/, '/'), what)
  const indexRequest = { what, url: new URL('index.yaml', base), maxBytes: maxIndexBytes, signal }
  const index = await download(sender, { ...indexRequest, ...authorizationOf(source) })
  const entry = findInIndex(index.toString('utf8'), source.chart, source.version || undefined, what)
  const digest = source.digest === undefined ? entry.digest : parseDigest(source.digest, `${what}: digest`)
  const url = URL.parse(entry.url, base.href)
  if (url === null) throw new ChartInvalidError(`${what}: index.yaml has an address that is not a URL`)
  const expected = { name: source.chart, version: entry.version, ...(digest !== undefined && { digest }) }
  // The index may point anywhere; credentials are sent only to the repository.
  const authorization = url.origin === base.origin ? authorizationOf(source) : {}
  const request = { what, url, maxBytes: maxChartBytes, signal, ...authorization }
  return complete(what, expected, () => download(sender, request), options)
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
    throw new ChartInvalidError(`${what}: the archive contains the chart ${name}, not ${expected.name}`)
  }
  if (expected.version !== undefined && semver.compareBuild(expected.version, version) !== 0) {
    throw new ChartInvalidError(`${what}: the archive contains version ${version}, not ${expected.version}`)
  }
  return { bytes, digest, metadata, wasKnown: known !== undefined }
}

function authorizationOf({ credentials }: Pick<UrlSource, 'credentials'>): { readonly authorization?: string } {
  const { username, password = '', token } = credentials ?? {}
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

function parseUrl(text: string, what: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new ChartInvalidError(`${what} is not a URL`)
  if (url.username !== '' || url.password !== '') {
    throw new ChartInvalidError(`${what}: credentials belong in a Secret, not in the address`)
  }
  return url
}
