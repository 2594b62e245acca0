/** Where charts come from. */

/** Credentials of a chart source. Kept in memory only; never logged, never on a command line. */
export interface ChartCredentials {
  readonly username?: string
  readonly password?: string
  /** Sent as a bearer token instead of user name and password. */
  readonly token?: string
  /** PEM bundle to trust instead of the authorities that Node.js trusts. */
  readonly certificateAuthority?: string
  /** PEM; needs `clientKey`. */
  readonly clientCertificate?: string
  readonly clientKey?: string
}

/** Fields of every source that is reached over the network. */
interface RemoteSource {
  readonly credentials?: ChartCredentials
  /** `sha256:` and 64 hexadecimal digits: the only bytes to accept. */
  readonly digest?: string
}

/** An unpacked chart on this machine. Its digest covers names and contents of its files. */
export interface DirectorySource {
  readonly type: 'directory'
  readonly path: string
}

/** A `.tgz` on this machine. */
export interface ArchiveSource {
  readonly type: 'archive'
  readonly path: string
  readonly digest?: string
}

/** A `.tgz` at an `https` address, pinned by its digest. */
export interface UrlSource extends RemoteSource {
  readonly type: 'url'
  readonly url: string
  readonly digest: string
}

/** A chart of a repository with an `index.yaml`. */
export interface RepositorySource extends RemoteSource {
  readonly type: 'repository'
  /** Address of the folder of `index.yaml`. */
  readonly url: string
  readonly chart: string
  /** A version or a range, such as `^1.2`. Empty or absent: the newest release by semantic version. */
  readonly version?: string
}

/** A chart of an OCI registry. Its digest may be that of the archive, or of the manifest, which `helm push` prints. */
export interface OciSource extends RemoteSource {
  readonly type: 'oci'
  /** Such as `oci://registry.example.com/charts/web`. */
  readonly url: string
  /** A version or a range. Empty or absent: the newest release by semantic version. */
  readonly version?: string
  /** Use plain HTTP; the resolver has to allow it as well. @default false */
  readonly plainHttp?: boolean
}

/** Where to get a chart. */
export type ChartSource = DirectorySource | ArchiveSource | UrlSource | RepositorySource | OciSource

/** A chart on this machine, ready for Helm. */
export interface ResolvedChart {
  /** What to give to Helm: a `.tgz` of the cache, or the folder of a directory source. */
  readonly path: string
  readonly name: string
  readonly version: string
  readonly appVersion?: string
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string
  /** The bytes were here already: because they are pinned, or because the source could not be reached. */
  readonly fromCache: boolean
  /** Why the source could not be reached; absent if it was, or was not needed. Show it to users. */
  readonly sourceFailure?: Error
  /** Where it came from, for messages; without credentials. */
  readonly source: string
}

/** Options of {@link ChartResolver.resolve}. */
export interface ResolveChartOptions {
  readonly signal?: AbortSignal
  /** Timeout of each request to a source. @default 60_000 */
  readonly timeoutMs?: number
}

/** Fetches a chart from its source. */
export interface ChartResolver {
  /**
   * The chart, from its source or, when that cannot be reached, from the cache.
   *
   * *Errors*: `ChartNotFoundError`, `ChartRefusedError`, `ChartInvalidError`, `DigestMismatchError`; and
   * `ChartUnreachableError` when neither the source nor the cache can help.
   *
   * @example
   * const chart = await charts.resolve({ type: 'repository', url: 'https://charts.example.com', chart: 'web' })
   */
  resolve(source: ChartSource, options?: ResolveChartOptions): Promise<ResolvedChart>
}
