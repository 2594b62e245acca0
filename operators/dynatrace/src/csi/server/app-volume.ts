/** Volumes of applications: an overlay over an agent that all pods of the node share. */
import { mkdir, readlink, stat } from 'node:fs/promises'
import type { Logger } from '@reeve/runtime'
import type { DataPaths } from '../data-paths.ts'
import { STATUS, StatusError } from '../grpc/status-error.ts'
import { type Mounts, unmountAll } from '../mounts/mounts.ts'
import { isMissing, isTaken } from './file-errors.ts'
import { linkPod, writePodInfo } from './pod-link.ts'
import type { Volume } from './publish-request.ts'

/** What publishing needs. */
export interface PublishContext {
  readonly paths: DataPaths
  readonly mounts: Mounts
  readonly logger: Logger
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The umask of the process is 0: agents of arbitrary users write here. */
const OPEN_TO_ALL = 0o777

/**
 * Mounts an agent for a pod.
 *
 * After `retryTimeoutMs` it reports success without mounting anything: the pod starts without an agent, because an
 * application must not wait for its monitoring forever. The time counts from the last change of the volume's directory.
 *
 * *Guarantees*: repeated after a crash at any time it leaves one overlay and one bind mount.
 *
 * *Errors*: `UNAVAILABLE` until the provisioner has installed an agent; `INTERNAL`.
 */
export async function publishAppVolume(volume: Volume, context: PublishContext): Promise<void> {
  const { paths, logger } = context
  const attempt = await attemptOf(volume, context)
  if (attempt === 'given up') {
    logger.info({ volume: volume.id, pod: volume.podName }, 'no agent in time: the pod starts without one')
    return
  }
  const link = paths.latestCodeModule(volume.dynakube)
  const [isAvailable, lower] = await Promise.all([isDirectory(link), readlink(link).catch(() => undefined)])
  if (!isAvailable || lower === undefined) {
    const message = `the provisioner has not installed an agent for the DynaKube ${volume.dynakube} yet`
    throw new StatusError(STATUS.unavailable, message)
  }
  try {
    await mountAgent(volume, lower, attempt, context)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StatusError(STATUS.internal, `volume ${volume.id}: ${reason}`, { cause: error })
  }
}

type Attempt = 'first' | 'repeated' | 'given up'

/** Makes the directory of the volume, most often: there is one attempt for most volumes. */
async function attemptOf(volume: Volume, context: PublishContext): Promise<Attempt> {
  const { paths, logger } = context
  const { root } = paths.appVolume(volume.id)
  try {
    await mkdir(root, OPEN_TO_ALL)
    return 'first'
  } catch (error) {
    if (isTaken(error)) return repeatedAttempt(root, volume, context)
    if (isMissing(error)) return (await isMade(root, logger)) ? 'first' : 'given up'
    logger.error({ volume: volume.id, error }, 'cannot make the directory of a volume')
    return 'given up'
  }
}

async function repeatedAttempt(
  root: string,
  { id, retryTimeoutMs }: Volume,
  { now, logger }: PublishContext,
): Promise<Attempt> {
  try {
    const { mtimeMs } = await stat(root)
    return now() > mtimeMs + retryTimeoutMs ? 'given up' : 'repeated'
  } catch (error) {
    logger.error({ volume: id, error }, 'cannot read the directory of a volume')
    return 'given up'
  }
}

function isMade(root: string, logger: Logger): Promise<boolean> {
  return mkdir(root, { recursive: true, mode: OPEN_TO_ALL }).then(
    () => true,
    (error: unknown) => {
      logger.error({ error }, 'cannot make the directory of a volume')
      return false
    },
  )
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  )
}

async function mountAgent(
  volume: Volume,
  lower: string,
  attempt: Attempt,
  { paths, mounts }: PublishContext,
): Promise<void> {
  const directories = paths.appVolume(volume.id)
  const { mapped, upper, work } = directories
  const podLink = paths.podLink(volume.dynakube, volume.podNamespace, volume.podName)
  const make = (path: string) => mkdir(path, { recursive: true, mode: OPEN_TO_ALL })
  // Together, because each takes its turn on a thread of its own.
  await Promise.all([
    make(mapped),
    make(upper).then(() => writePodInfo(directories, podLink)),
    make(work),
    make(volume.targetPath),
  ])
  // Left by a process that was killed between the two mounts. It may show an agent that is no longer the latest.
  if (attempt === 'repeated') await unmountAll(mapped, mounts)
  await mounts.overlay({ lower, upper, work, target: mapped })
  try {
    await mounts.bind(mapped, volume.targetPath)
  } catch (error) {
    // The next attempt would find and remove it, too.
    await mounts.unmount(mapped).catch(() => false)
    throw error
  }
  await linkPod(directories, podLink)
}
