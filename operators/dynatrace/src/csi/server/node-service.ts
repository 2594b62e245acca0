/** The Node service of the Container Storage Interface: volumes on this node. */
import { lstatSync } from 'node:fs'
import { STATUS, StatusError } from '../grpc/status-error.ts'
import type { Method } from '../grpc/unix-server.ts'
import { isMountPoint } from '../mounts/mount-table.ts'
import { readPublishRequest, readUnpublishRequest, writeNodeInfo } from '../wire/csi-messages.ts'
import { type PublishContext, publishAppVolume } from './app-volume.ts'
import { FailureTimes } from './failure-times.ts'
import { isMissing, isNoDirectory } from './file-errors.ts'
import { publishHostVolume } from './host-volume.ts'
import { unpublishedVolume, type Volume, volumeOf } from './publish-request.ts'
import { RequestLimiter } from './request-limiter.ts'
import { unpublishVolume } from './unpublish-volume.ts'
import { VolumeLocks } from './volume-locks.ts'
import { otherPlaceOf, ownerOf } from './volume-record.ts'

/** Options of {@link nodeService}. */
export interface NodeServiceOptions extends Omit<PublishContext, 'publishFailures' | 'unpublishFailures'> {
  /** The name of the node. */
  readonly nodeId: string
  /** How many volumes are published and unpublished concurrently. */
  readonly maxRequests: number
}

type Publisher = (volume: Volume, context: PublishContext) => Promise<void>

const PUBLISHERS: ReadonlyMap<string, Publisher> = new Map([
  ['app', publishAppVolume],
  ['host', publishHostVolume],
])

const EMPTY = new Uint8Array()

/** There is no staging, and volumes have neither a size nor statistics. */
const UNIMPLEMENTED = ['NodeStageVolume', 'NodeUnstageVolume', 'NodeGetVolumeStats', 'NodeExpandVolume']

/**
 * The methods of the service. Calls that change volumes share one limit; calls for the same volume, or the same target, run
 * one after another.
 *
 * @example
 * const services = { 'csi.v1.Node': nodeService({ nodeId, namespace, maxRequests: 20, paths, mounts, logger, now: Date.now }) }
 */
export function nodeService(options: NodeServiceOptions): Readonly<Record<string, Method>> {
  const { logger, now } = options
  const context = { ...options, publishFailures: new FailureTimes(now), unpublishFailures: new FailureTimes(now) }
  const limiter = new RequestLimiter(options.maxRequests)
  const volumes = new VolumeLocks()
  const targets = new VolumeLocks()
  const alone = async (id: string, targetPath: string, work: () => Promise<void>): Promise<Uint8Array> => {
    try {
      await volumes.run(id, () => targets.run(targetPath, work))
      return EMPTY
    } catch (error) {
      if (error instanceof StatusError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new StatusError(STATUS.internal, `volume ${id}: ${reason}`, { cause: error })
    }
  }
  return {
    ...Object.fromEntries(UNIMPLEMENTED.map((name) => [name, unimplemented])),
    NodeGetInfo: async () => writeNodeInfo(options),
    NodeGetCapabilities: async () => EMPTY,
    NodePublishVolume: (bytes) =>
      limiter.run(async () => {
        const volume = volumeOf(readPublishRequest(bytes))
        const { id, podName: pod, podNamespace: namespace, dynakube, mode } = volume
        logger.info({ volume: id, pod, namespace, dynakube, mode }, 'publishing a volume')
        return alone(id, volume.targetPath, () => publish(volume, context))
      }),
    NodeUnpublishVolume: (bytes) =>
      limiter.run(async () => {
        const request = unpublishedVolume(readUnpublishRequest(bytes))
        const { volumeId, targetPath } = request
        logger.info({ volume: volumeId, target: targetPath }, 'unpublishing a volume')
        return alone(volumeId, targetPath, () => unpublishVolume(request, context))
      }),
  }
}

async function publish(volume: Volume, context: PublishContext): Promise<void> {
  context.unpublishFailures.clear(volume.id)
  if (await isPublished(volume, context)) return
  const publisher = PUBLISHERS.get(volume.mode)
  if (publisher === undefined) {
    throw new StatusError(STATUS.internal, `unknown mode "${volume.mode}"; use ${[...PUBLISHERS.keys()].join(' or ')}`)
  }
  await publisher(volume, context)
}

/**
 * Whether a volume is mounted at its target.
 *
 * *Errors*: `FAILED_PRECONDITION` if another volume is, or if this one is mounted elsewhere; `INVALID_ARGUMENT` for a target
 * that is not a directory.
 */
async function isPublished({ id, targetPath }: Volume, { paths }: PublishContext): Promise<boolean> {
  if (await isTargetMounted(targetPath)) {
    const owner = ownerOf(targetPath, id, paths)
    if (owner === id) return true
    const user = owner === undefined ? 'something else' : `volume ${owner}`
    throw new StatusError(STATUS.failedPrecondition, `target_path "${targetPath}" is in use by ${user}`)
  }
  const place = await otherPlaceOf(paths.appVolume(id), targetPath)
  if (place === undefined) return false
  throw new StatusError(STATUS.failedPrecondition, `volume ${id} is already published at ${place}`)
}

async function isTargetMounted(targetPath: string): Promise<boolean> {
  const invalid = () => new StatusError(STATUS.invalidArgument, `target_path "${targetPath}" is not a directory`)
  try {
    // A link would be followed to mount, but not to unmount.
    if (!lstatSync(targetPath).isDirectory()) throw invalid()
    return await isMountPoint(targetPath)
  } catch (error) {
    if (isMissing(error)) return false
    throw isNoDirectory(error) ? invalid() : error
  }
}

function unimplemented(): Promise<never> {
  return Promise.reject(new StatusError(STATUS.unimplemented, ''))
}
