/**
 * Volumes of applications: an overlay over an agent that all pods of the node share.
 *
 * Directories and links are made synchronously: each takes some microseconds, less than handing it to a thread and back.
 * Mounts wait for locks of the kernel and run on threads.
 */
import { mkdirSync, readlinkSync, rmSync, statSync, utimesSync } from 'node:fs'
import type { Logger } from '@reeve/runtime'
import type { DataPaths } from '../data-paths.ts'
import { STATUS, StatusError } from '../grpc/status-error.ts'
import { placesOf, readMounts } from '../mounts/mount-table.ts'
import { type Mounts, unmountAll } from '../mounts/mounts.ts'
import { isMissing, isTaken } from './file-errors.ts'
import { linkPod, targetOf, writePodInfo } from './pod-link.ts'
import type { Volume } from './publish-request.ts'

/** What publishing needs. */
export interface PublishContext {
  readonly paths: DataPaths
  /** Of the operator, where host agents run. */
  readonly namespace: string
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
 * application must not wait for its monitoring forever. The time counts from the last change of the volume's directory,
 * and from the restart of a node for a pod that had an agent before.
 *
 * *Guarantees*: repeated after a crash at any time it leaves one overlay and one bind mount.
 *
 * *Errors*: `UNAVAILABLE` until the provisioner has installed an agent; `FAILED_PRECONDITION` if the volume is published
 * at another path; `INTERNAL`.
 */
export async function publishAppVolume(volume: Volume, context: PublishContext): Promise<void> {
  const { paths, logger } = context
  const attempt = attemptOf(volume, context)
  if (attempt === 'given up') {
    logger.info({ volume: volume.id, pod: volume.podName }, 'no agent in time: the pod starts without one')
    return
  }
  const lower = latestAgent(paths.latestCodeModule(volume.dynakube))
  if (lower === undefined) {
    const message = `the provisioner has not installed an agent for the DynaKube ${volume.dynakube} yet`
    throw new StatusError(STATUS.unavailable, message)
  }
  try {
    if (attempt === 'repeated') await removeOverlay(volume, context)
    await mountAgent(volume, lower, context)
  } catch (error) {
    if (error instanceof StatusError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StatusError(STATUS.internal, `volume ${volume.id}: ${reason}`, { cause: error })
  }
}

type Attempt = 'first' | 'repeated' | 'given up'

/** Makes the directory of the volume, most often: there is one attempt for most volumes. */
function attemptOf(volume: Volume, context: PublishContext): Attempt {
  const { paths, logger } = context
  const { root } = paths.appVolume(volume.id)
  try {
    mkdirSync(root, OPEN_TO_ALL)
    return 'first'
  } catch (error) {
    if (isTaken(error)) return repeatedAttempt(root, volume, context)
    if (isMissing(error)) return isMade(root, logger) ? 'first' : 'given up'
    logger.error({ volume: volume.id, error }, 'cannot make the directory of a volume')
    return 'given up'
  }
}

function repeatedAttempt(root: string, volume: Volume, { paths, now, logger }: PublishContext): Attempt {
  try {
    if (now() <= statSync(root).mtimeMs + volume.retryTimeoutMs) return 'repeated'
    const link = paths.podLink(volume.dynakube, volume.podNamespace, volume.podName)
    if (targetOf(link) !== root) return 'given up'
    // It had an agent until its node was restarted: the time begins again, and without the link only once.
    rmSync(link)
    utimesSync(root, now() / 1_000, now() / 1_000)
    return 'repeated'
  } catch (error) {
    logger.error({ volume: volume.id, error }, 'cannot read the directory of a volume')
    return 'given up'
  }
}

function isMade(root: string, logger: Logger): boolean {
  try {
    mkdirSync(root, { recursive: true, mode: OPEN_TO_ALL })
    return true
  } catch (error) {
    logger.error({ error }, 'cannot make the directory of a volume')
    return false
  }
}

/** The directory that a link leads to. The provisioner replaces the link at any time: it is read once. */
function latestAgent(link: string): string | undefined {
  try {
    const target = readlinkSync(link)
    return statSync(target).isDirectory() ? target : undefined
  } catch {
    // Nothing is installed yet, or something else is in the way.
    return undefined
  }
}

/**
 * Removes the overlay that a process left which was killed between the two mounts. It may show an agent that is no longer
 * the latest.
 *
 * *Errors*: `FAILED_PRECONDITION` if a pod sees it: the volume is published at another path.
 */
async function removeOverlay(volume: Volume, { paths, mounts }: PublishContext): Promise<void> {
  const { mapped } = paths.appVolume(volume.id)
  const [place] = placesOf(mapped, await readMounts())
  if (place !== undefined) {
    throw new StatusError(STATUS.failedPrecondition, `volume ${volume.id} is already published at ${place}`)
  }
  await unmountAll(mapped, mounts)
}

async function mountAgent(volume: Volume, lower: string, { paths, mounts }: PublishContext): Promise<void> {
  const directories = paths.appVolume(volume.id)
  const { mapped, upper, work } = directories
  const podLink = paths.podLink(volume.dynakube, volume.podNamespace, volume.podName)
  for (const path of [mapped, upper, work, volume.targetPath]) mkdirSync(path, { recursive: true, mode: OPEN_TO_ALL })
  writePodInfo(directories, podLink)
  await mounts.overlay({ lower, upper, work, target: mapped })
  try {
    await mounts.bind(mapped, volume.targetPath)
  } catch (error) {
    // The next attempt would find and remove it, too.
    await mounts.unmount(mapped).catch(() => false)
    throw error
  }
  linkPod(directories, podLink)
}
