/** Downloads the archive of an agent into a file. */
import { open } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { batches, releaseMemory } from '@reeve/archives'
import { codeModules } from '../tenant/client/installer-target.ts'
import { DownloadError } from './bootstrap-error.ts'
import type { ClientConfig } from './client-config.ts'
import { get } from './http-get.ts'
import type { Log } from './log.ts'

/** Which agent. */
export interface AgentSelection {
  /** `latest`, or the version of the DynaKube's status. */
  readonly version: string
  /** Empty for that of this processor. */
  readonly flavor: string
  /** Passed on as they are. */
  readonly technologies: readonly string[]
}

/** An application waits for this container: two more attempts, soon. */
const RETRY_DELAYS_MS = [1_000, 4_000]
/** Many times the versions that a tenant ever had. */
const MAX_LIST_BYTES = 1024 ** 2
const INSTALLERS = '/v1/deployment/installer/agent'

/**
 * Downloads into `file`, which is replaced. The memory that it takes does not grow with the archive.
 *
 * If the version cannot be downloaded, the available ones are logged for the person who chose it. If they cannot be
 * listed either, that error is the one thrown: it says more about the state of the tenant.
 *
 * *Errors*: `BOOTSTRAP_DOWNLOAD`; the reason of the signal.
 */
export async function downloadAgent(
  config: ClientConfig,
  selection: AgentSelection,
  file: string,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const url = addressOf(config, selection)
  for (let attempt = 0; ; attempt++) {
    try {
      return await downloadOnce(config, url, file, signal)
    } catch (error) {
      signal.throwIfAborted()
      const delayMs = error instanceof DownloadError && error.isTransient ? RETRY_DELAYS_MS[attempt] : undefined
      if (delayMs === undefined) {
        log.info({ versions: await availableVersions(config, selection, signal) }, 'available versions of the agent')
        throw error
      }
      log.info({ err: error, delayMs }, 'retrying the download')
      await pause(delayMs, undefined, { signal })
    }
  }
}

async function downloadOnce(config: ClientConfig, url: URL, file: string, signal: AbortSignal): Promise<void> {
  const { stream, sizeBytes } = await get(config, url, signal)
  const output = await open(file, 'w')
  let received = 0
  try {
    for await (const { chunks, bytes } of batches(stream)) {
      const { bytesWritten } = await output.writev(chunks)
      if (bytesWritten !== bytes) throw new Error(`the disk took ${bytesWritten} of ${bytes} bytes; is it full?`)
      releaseMemory(chunks)
      received += bytes
    }
  } catch (error) {
    // Errors of the file system name their call; all others come from the connection.
    if (signal.aborted || (error instanceof Error && 'syscall' in error && error.syscall === 'write')) throw error
    throw interrupted(url, received, sizeBytes, error)
  } finally {
    await output.close()
  }
  if (sizeBytes !== undefined && received !== sizeBytes) throw interrupted(url, received, sizeBytes)
}

function interrupted(url: URL, received: number, total: number | undefined, cause?: unknown): DownloadError {
  const counts = total === undefined ? `${received} bytes` : `${received} of ${total} bytes`
  return new DownloadError(`${url.host}: the download stopped after ${counts}`, { cause, isTransient: true })
}

async function availableVersions(
  config: ClientConfig,
  { flavor }: AgentSelection,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const target = codeModules()
  const query = `flavor=${encodeURIComponent(flavor || target.flavor)}&arch=${target.arch}`
  const { stream } = await get(config, new URL(`${base(config)}/versions/unix/paas?${query}`), signal)
  const { availableVersions: versions } = JSON.parse(await readText(stream))
  return Array.isArray(versions) ? versions : []
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > MAX_LIST_BYTES) throw new DownloadError('the list of versions is too long')
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Technologies are not encoded: a list of the user reaches the tenant as written. */
function addressOf(config: ClientConfig, { version, flavor, technologies }: AgentSelection): URL {
  const target = codeModules()
  const segment = version === 'latest' ? version : `version/${encodeURIComponent(version)}`
  const include = technologies.map((technology) => `&include=${technology}`).join('')
  const query = `flavor=${encodeURIComponent(flavor || target.flavor)}&arch=${target.arch}&bitness=64`
  return new URL(`${base(config)}/unix/paas/${segment}?${query}&skipMetadata=false${include}`)
}

const base = ({ url }: ClientConfig) => `${url.href.replace(/\/$/, '')}${INSTALLERS}`
