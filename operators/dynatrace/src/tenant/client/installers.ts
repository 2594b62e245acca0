/** Downloads agents and code modules. */
import type { CallExecutor, CallOptions } from './call-executor.ts'
import type { ClassicApi } from './classic-api.ts'
import { type DownloadProgress, type DownloadResult, downloadToFile } from './download.ts'
import { TenantCallError } from './errors.ts'
import type { InstallerTarget } from './installer-target.ts'
import { installerPath, type VersionCalls } from './versions.ts'

/** Options of {@link InstallerCalls.download}. */
export interface InstallerDownloadOptions extends CallOptions {
  /** Leave out what is specific to a tenant, so that several tenants share one copy. @default true */
  readonly skipMetadata?: boolean
  /** Technologies to include, in this order. @default all */
  readonly technologies?: readonly string[]
  /** Entity tag of a copy that exists; the download is skipped while it is still current. @default none */
  readonly etag?: string
  readonly onProgress?: (progress: DownloadProgress) => void
}

/** The version that means the newest one. */
const LATEST = 'latest'

/** Calls for installers. */
export class InstallerCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor
  readonly #versions: VersionCalls

  constructor(api: ClassicApi, executor: CallExecutor, versions: VersionCalls) {
    this.#api = api
    this.#executor = executor
    this.#versions = versions
  }

  /**
   * Downloads an installer ZIP into `file`, which is replaced.
   *
   * When a version cannot be downloaded, the available versions are listed and logged, so that the user can correct
   * the version. If that call fails as well, its failure is the one reported, because it says more about the
   * state of the tenant; the first one is its cause.
   */
  async download(
    target: InstallerTarget,
    version: string,
    file: string,
    options: InstallerDownloadOptions = {},
  ): Promise<DownloadResult> {
    const name = 'agent download'
    if (version === '') throw new TenantCallError(name, 'the version must not be empty')
    const { path, arch } = installerPath(name, target)
    const { skipMetadata = true, technologies = ['all'] } = options
    const flavor = `flavor=${encodeURIComponent(target.flavor)}${arch}`
    const [segment, selection] =
      version === LATEST
        ? [LATEST, `bitness=64&${flavor}`]
        : [`version/${encodeURIComponent(version)}`, `${flavor}&bitness=64`]
    const include = technologies.map((technology) => `&include=${encodeURIComponent(technology)}`).join('')
    const call = this.#api.call({
      name,
      path: `/v1/deployment/installer/agent/${path}/${segment}?${selection}&skipMetadata=${skipMetadata}${include}`,
      token: 'paas',
      countsAsUnavailable: false,
    })
    try {
      return await downloadToFile(this.#executor, call, file, options)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (version !== LATEST) await this.#logAvailable(target, version, error, options)
      throw error
    }
  }

  async #logAvailable(target: InstallerTarget, version: string, cause: unknown, options: CallOptions): Promise<void> {
    const { signal } = options
    try {
      const available = await this.#versions.availableAgents(target, signal ? { signal } : {})
      this.#executor.logger.warn({ version, available }, 'agent version cannot be downloaded')
    } catch (error) {
      if (error instanceof Error && error.cause === undefined) error.cause = cause
      throw error
    }
  }
}
