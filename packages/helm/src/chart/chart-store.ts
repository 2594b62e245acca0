/** Fetches charts from their sources. */

import { access, readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Clock, systemClock, untilAborted, withDeadline } from '@reeve/http'
import { digestOf } from '@reeve/oci'
import * as defaults from '../defaults.ts'
import { ChartInvalidError, ChartNotFoundError, ChartUnreachableError, DigestMismatchError } from '../errors.ts'
import { ChartCache } from './chart-cache.ts'
import { parseDigest } from './chart-digest.ts'
import type { ArchiveSource, ChartResolver, ChartSource, ResolveChartOptions, ResolvedChart } from './chart-source.ts'
import { type FetchChartOptions, fetchChart, type RemoteChartSource } from './fetch-chart.ts'
import { type ArchiveLimits, inspectArchive } from './inspect-chart.ts'
import { inspectDirectory } from './inspect-directory.ts'

/** How many resolved charts are cached. */
const MAX_FRESH = 200

/** Options of {@link ChartStore}. */
export interface ChartStoreOptions extends ArchiveLimits {
  /** Size of the cache; the archives used least recently go first. @default 268_435_456 */
  readonly maxBytes?: number
  /** Most bytes of one archive. @default 20_971_520 */
  readonly maxChartBytes?: number
  /** Most bytes of a repository's index. @default 8_388_608 */
  readonly maxIndexBytes?: number
  /** How long a resolved chart is used without a request to its source; 0 sends one every time. @default 30_000 */
  readonly freshMs?: number
  /** Accept `http:`, for registries and repositories on this machine. @default false */
  readonly allowPlainHttp?: boolean
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read from here. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** @default the clock of the machine */
  readonly clock?: Clock
}

interface Fresh {
  readonly until: number
  readonly chart: Promise<ResolvedChart>
}

/**
 * A {@link ChartResolver} with a cache on disk. Several processes may share its folder.
 *
 * Callers that request the same chart at the same time share one request. An archive that is pinned by its digest and
 * cached is used without a request.
 *
 * @example
 * const charts = new ChartStore('/var/cache/charts')
 * const chart = await charts.resolve({ type: 'oci', url: 'oci://registry.example.com/charts/web', version: '^1.2' })
 * await helm.install(release, chart, { values })
 */
export class ChartStore implements ChartResolver {
  readonly #cache: ChartCache
  readonly #options: ChartStoreOptions
  readonly #clock: Clock
  readonly #fresh = new Map<string, Fresh>()

  constructor(folder: string, options: ChartStoreOptions = {}) {
    this.#cache = new ChartCache(folder, options)
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async resolve(source: ChartSource, options: ResolveChartOptions = {}): Promise<ResolvedChart> {
    options.signal?.throwIfAborted()
    if (source.type === 'directory') return this.#fromDirectory(source.path)
    if (source.type === 'archive') return this.#fromArchive(source)
    return this.#share(source, options)
  }

  /** One request, shared by concurrent callers. No single caller can cancel it. */
  async #share(source: RemoteChartSource, options: ResolveChartOptions): Promise<ResolvedChart> {
    const { freshMs = defaults.DEFAULT_FRESH_MS } = this.#options
    // Credentials are part of the question: what one may see, another may not. Only their digest is kept.
    const key = digestOf(Buffer.from(JSON.stringify(source)))
    const known = this.#fresh.get(key)
    if (known !== undefined && known.until > this.#clock.now()) {
      const chart = await untilAborted(known.chart, options.signal)
      if (await exists(chart.path)) return chart
    }
    const chart = this.#fromRemote(source, options.timeoutMs ?? defaults.DEFAULT_CHART_TIMEOUT_MS)
    this.#fresh.delete(key)
    this.#fresh.set(key, { until: this.#clock.now() + freshMs, chart })
    for (const oldest of [...this.#fresh.keys()].slice(0, -MAX_FRESH)) this.#fresh.delete(oldest)
    chart.catch(() => {
      if (this.#fresh.get(key)?.chart === chart) this.#fresh.delete(key)
    })
    return untilAborted(chart, options.signal)
  }

  async #fromRemote(source: RemoteChartSource, timeoutMs: number): Promise<ResolvedChart> {
    const what = describeSource(source)
    const pinned = source.digest === undefined ? undefined : parseDigest(source.digest, `${what}: digest`)
    // What a source has answered, it has answered to these credentials: others may not see it. Of the key only a digest is kept.
    const { digest: _pinned, ...question } = source
    const key = JSON.stringify(question)
    const answered = (await this.#cache.recall(key))?.digest
    const cached = pinned !== undefined && pinned === answered ? await this.#fromCache(pinned, what) : undefined
    if (cached !== undefined) return cached
    try {
      const { bytes, digest, metadata, wasKnown } = await this.#fetch(source, what, timeoutMs, answered)
      const path = wasKnown ? (await this.#cache.find(digest))?.path : undefined
      const stored = path ?? (await this.#cache.store(bytes))
      await this.#cache.remember(key, { digest })
      return { path: stored, ...metadata, digest, fromCache: wasKnown, source: what }
    } catch (error) {
      if (!(error instanceof ChartUnreachableError)) throw error
      const chart = answered === undefined ? undefined : await this.#fromCache(answered, what)
      if (chart === undefined) throw error
      return { ...chart, sourceFailure: error }
    }
  }

  /** @param answered the digest of the archive that need not be downloaded again */
  async #fetch(source: RemoteChartSource, what: string, timeoutMs: number, answered: string | undefined) {
    const { env = process.env, allowPlainHttp = false } = this.#options
    const { maxChartBytes = defaults.DEFAULT_MAX_CHART_BYTES, maxIndexBytes = defaults.DEFAULT_MAX_INDEX_BYTES } =
      this.#options
    const onTimeout = () => new ChartUnreachableError(`${what}: no response within ${timeoutMs} ms`)
    return withDeadline({ clock: this.#clock, timeoutMs, onTimeout }, (signal) => {
      const options: FetchChartOptions = {
        env,
        isPlainHttpAllowed: allowPlainHttp,
        signal,
        maxChartBytes,
        maxIndexBytes,
        limits: this.#options,
        find: async (digest) => (digest === answered ? (await this.#cache.find(digest))?.bytes : undefined),
      }
      return fetchChart(source, what, options)
    })
  }

  async #fromCache(digest: string, what: string): Promise<ResolvedChart | undefined> {
    const found = await this.#cache.find(digest)
    if (found === undefined) return undefined
    const metadata = await inspectArchive(found.bytes, what, this.#options)
    return { path: found.path, ...metadata, digest, fromCache: true, source: what }
  }

  async #fromDirectory(path: string): Promise<ResolvedChart> {
    const { metadata, digest } = await inspectDirectory(path)
    // Helm runs in its own folder: a relative path would not resolve there.
    return { path: resolve(path), ...metadata, digest, fromCache: false, source: path }
  }

  /** The archive is copied: Helm later reads what was inspected. */
  async #fromArchive({ path, digest: pinned }: ArchiveSource): Promise<ResolvedChart> {
    const { maxChartBytes = defaults.DEFAULT_MAX_CHART_BYTES } = this.#options
    const missing = (error: unknown) => {
      throw new ChartNotFoundError(`chart archive ${path} does not exist`, { cause: error })
    }
    const { size } = await stat(path).catch(missing)
    if (size > maxChartBytes) throw new ChartInvalidError(`${path} is larger than ${maxChartBytes} bytes`)
    const bytes = await readFile(path).catch(missing)
    const digest = digestOf(bytes)
    const expected = pinned === undefined ? digest : parseDigest(pinned, `digest of ${path}`)
    if (digest !== expected) throw new DigestMismatchError(path, { expected, actual: digest })
    const metadata = await inspectArchive(bytes, path, this.#options)
    return { path: await this.#cache.store(bytes), ...metadata, digest, fromCache: false, source: path }
  }
}

/** The address of a source, without query and credentials: both may be secret. */
function describeSource(source: RemoteChartSource): string {
  const [address = ''] = source.url.replace(/\/\/[^/@]*@/, '//').split(/[?#]/)
  const version = 'version' in source && source.version ? ` ${source.version}` : ''
  return source.type === 'repository' ? `chart ${source.chart}${version} of ${address}` : `chart ${address}${version}`
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
