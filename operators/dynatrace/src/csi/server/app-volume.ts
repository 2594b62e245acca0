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
import { type Mounts, unmountAll } from '../mounts/mounts.ts'
import type { FailureTimes } from './failure-times.ts'
import { isMissing, isTaken } from './file-errors.ts'
import { linkPod, targetOf, writePodInfo } from './pod-link.ts'
import type { Volume } from './publish-request.ts'
import { writeRecord } from './volume-record.ts'

/** What publishing needs. */
export interface PublishContext {
  readonly paths: DataPaths
  /** Of the operator, where host agents run. */
  readonly namespace: string
  readonly mounts: Mounts
  readonly logger: Logger
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Of volumes whose directory cannot be made. */
  readonly publishFailures: FailureTimes
  /** Of volumes that cannot be unmounted or deleted. */
  readonly unpublishFailures: FailureTimes
}

/** The umask of the process is 0: agents of arbitrary users write here. */
const OPEN_TO_ALL = 0o777

/**
 * Mounts an agent for a pod.
 *
 * After `retryTimeoutMs` it reports success without mounting anything: the pod starts without an agent, because an
 * application must not wait for its monitoring forever. The time counts from the last change of the volume's directory,
 * from the first failure if it cannot be made, and from the restart of a node for a pod that had an agent before.
 *
 * *Guarantees*: repeated after a crash at any time it leaves one overlay and one bind mount.
 *
 * *Errors*: `UNAVAILABLE` until the provisioner has installed an agent; those of the file system and of mounts.
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
  // Of a process that was killed between the two mounts. It may show an agent that is no longer the latest.
  if (attempt === 'repeated') await unmountAll(paths.appVolume(volume.id).mapped, context.mounts)
  await mountAgent(volume, lower, context)
}

type Attempt = 'first' | 'repeated' | 'given up'

/**
 * Makes the directory of the volume, most often: there is one attempt for most volumes. A disk that is full or read-only is
 * no reason to start a pod without an agent before its time is over.
 */
function attemptOf(volume: Volume, context: PublishContext): Attempt {
  const { publishFailures, logger } = context
  try {
    const attempt = beginAttempt(volume, context)
    publishFailures.clear(volume.id)
    return attempt
  } catch (error) {
    if (!publishFailures.haveLasted(volume.id, volume.retryTimeoutMs)) throw error
    logger.error({ volume: volume.id, err: error }, 'cannot make the directory of a volume')
    return 'given up'
  }
}

function beginAttempt(volume: Volume, context: PublishContext): Attempt {
  const { root } = context.paths.appVolume(volume.id)
  try {
    mkdirSync(root, OPEN_TO_ALL)
  } catch (error) {
    if (isTaken(error)) return repeatedAttempt(root, volume, context)
    if (!isMissing(error)) throw error
    mkdirSync(root, { recursive: true, mode: OPEN_TO_ALL })
  }
  return 'first'
}

function repeatedAttempt(root: string, volume: Volume, { paths, now }: PublishContext): Attempt {
  if (now() <= statSync(root).mtimeMs + volume.retryTimeoutMs) return 'repeated'
  const link = paths.podLink(volume.dynakube, volume.podNamespace, volume.podName)
  if (targetOf(link) !== root) return 'given up'
  // It had an agent until its node was restarted: the time begins again, and without the link only once.
  rmSync(link)
  utimesSync(root, now() / 1_000, now() / 1_000)
  return 'repeated'
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

async function mountAgent(volume: Volume, lower: string, { paths, mounts }: PublishContext): Promise<void> {
  const directories = paths.appVolume(volume.id)
  const { mapped, upper, work } = directories
  const podLink = paths.podLink(volume.dynakube, volume.podNamespace, volume.podName)
  for (const path of [mapped, upper, work, volume.targetPath]) mkdirSync(path, { recursive: true, mode: OPEN_TO_ALL })
  writeRecord(directories, volume)
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
