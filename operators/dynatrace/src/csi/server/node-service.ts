/** The Node service of the Container Storage Interface: volumes on this node. */
import { STATUS, StatusError } from '../grpc/status-error.ts'
import type { Method } from '../grpc/unix-server.ts'
import { isMountPoint } from '../mounts/mount-table.ts'
import { readPublishRequest, readUnpublishRequest, writeNodeInfo } from '../wire/csi-messages.ts'
import { type PublishContext, publishAppVolume } from './app-volume.ts'
import { publishHostVolume } from './host-volume.ts'
import { unpublishedVolume, type Volume, volumeOf } from './publish-request.ts'
import { RequestLimiter } from './request-limiter.ts'
import { unpublishVolume } from './unpublish-volume.ts'
import { VolumeLocks } from './volume-locks.ts'

/** Options of {@link nodeService}. */
export interface NodeServiceOptions extends PublishContext {
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
 * The methods of the service. Calls that change volumes share one limit; calls for the same volume run one after another.
 *
 * @example
 * const services = { 'csi.v1.Node': nodeService({ nodeId, namespace, maxRequests: 20, paths, mounts, logger, now: Date.now }) }
 */
export function nodeService(options: NodeServiceOptions): Readonly<Record<string, Method>> {
  const { logger } = options
  const limiter = new RequestLimiter(options.maxRequests)
  const locks = new VolumeLocks()
  return {
    ...Object.fromEntries(UNIMPLEMENTED.map((name) => [name, unimplemented])),
    NodeGetInfo: async () => writeNodeInfo(options),
    NodeGetCapabilities: async () => EMPTY,
    NodePublishVolume: (bytes) =>
      limiter.run(async () => {
        const volume = volumeOf(readPublishRequest(bytes))
        const { id, podName: pod, podNamespace: namespace, dynakube, mode } = volume
        logger.info({ volume: id, pod, namespace, dynakube, mode }, 'publishing a volume')
        await locks.run(id, () => publish(volume, options))
        return EMPTY
      }),
    NodeUnpublishVolume: (bytes) =>
      limiter.run(async () => {
        const volume = unpublishedVolume(readUnpublishRequest(bytes))
        logger.info({ volume: volume.volumeId, target: volume.targetPath }, 'unpublishing a volume')
        await locks.run(volume.volumeId, () => unpublishVolume(volume, options))
        return EMPTY
      }),
  }
}

async function publish(volume: Volume, context: PublishContext): Promise<void> {
  if (await isMountPoint(volume.targetPath)) return
  const publisher = PUBLISHERS.get(volume.mode)
  if (publisher === undefined) {
    throw new StatusError(STATUS.internal, `unknown mode "${volume.mode}"; use ${[...PUBLISHERS.keys()].join(' or ')}`)
  }
  await publisher(volume, context)
}

function unimplemented(): Promise<never> {
  return Promise.reject(new StatusError(STATUS.unimplemented, ''))
}
