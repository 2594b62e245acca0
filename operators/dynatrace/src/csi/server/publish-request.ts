/** Decides whether a request to publish a volume makes sense, and reads it. */
import { isAbsolute, resolve } from 'node:path'
import { parseDurationMs } from '../../api/annotation-values.ts'
import { isFileName } from '../file-name.ts'
import { STATUS, StatusError } from '../grpc/status-error.ts'
import { VOLUME_ATTRIBUTES } from '../names.ts'
import type { NodePublishVolumeRequest, NodeUnpublishVolumeRequest } from '../wire/csi-messages.ts'

/** A volume to publish. */
export interface Volume {
  readonly id: string
  readonly targetPath: string
  readonly podName: string
  readonly podNamespace: string
  readonly mode: string
  readonly dynakube: string
  /** After so long a pod starts without an agent, and ends with a volume that is still in use. */
  readonly retryTimeoutMs: number
}

/** Of the kernel, with the byte that ends a text. */
const MAX_PATH_BYTES = 4_096

/** For volumes that do not say otherwise. */
export const DEFAULT_RETRY_TIMEOUT_MS = 10 * 60_000

/**
 * The volume of a request.
 *
 * Attributes come from users who may create pods, and become names of directories that root writes to: each must be a
 * single name.
 *
 * *Errors*: `INVALID_ARGUMENT` naming what is missing or wrong; the first problem counts.
 */
export function volumeOf(request: NodePublishVolumeRequest): Volume {
  const { volumeId, targetPath, capability, volumeContext } = request
  demand(volumeId !== '', 'volume_id is missing')
  demand(targetPath !== '', 'target_path is missing')
  demand(capability !== undefined, 'volume_capability is missing')
  demand(capability !== 'block', 'volume_capability: block volumes are not supported')
  demand(capability === 'mount', 'volume_capability: the access type must be mount')
  demand(volumeContext !== undefined, 'volume_context is missing')
  const attribute = (name: string): string => {
    const value = volumeContext?.[name] ?? ''
    demand(value !== '', `volume_context: ${name} is missing`)
    return value
  }
  const podName = attribute(VOLUME_ATTRIBUTES.podName)
  const podNamespace = attribute(VOLUME_ATTRIBUTES.podNamespace)
  const mode = attribute(VOLUME_ATTRIBUTES.mode)
  const dynakube = attribute(VOLUME_ATTRIBUTES.dynakube)
  const timeout = volumeContext?.[VOLUME_ATTRIBUTES.retryTimeout]
  const retryTimeoutMs = timeout ? parseDurationMs(timeout) : DEFAULT_RETRY_TIMEOUT_MS
  if (retryTimeoutMs === undefined) {
    throw invalid(`volume_context: ${VOLUME_ATTRIBUTES.retryTimeout} "${timeout}" is not a duration such as 10m`)
  }
  const path = validPath(targetPath)
  const names = { volume_id: volumeId, 'pod name': podName, 'pod namespace': podNamespace, dynakube }
  for (const [name, value] of Object.entries(names)) demand(isFileName(value), `${name} "${value}" is not a valid name`)
  return { id: volumeId, targetPath: path, podName, podNamespace, mode, dynakube, retryTimeoutMs }
}

/**
 * The volume to unpublish.
 *
 * *Errors*: `INVALID_ARGUMENT`.
 */
export function unpublishedVolume(request: NodeUnpublishVolumeRequest): NodeUnpublishVolumeRequest {
  const { volumeId, targetPath } = request
  demand(volumeId !== '', 'volume_id is missing')
  demand(targetPath !== '', 'target_path is missing')
  demand(isFileName(volumeId), `volume_id "${volumeId}" is not a valid name`)
  return { volumeId, targetPath: validPath(targetPath) }
}

/**
 * What is relative would be mounted, or unmounted, below wherever the driver was started. A slash at the end would make
 * the kernel follow a link.
 */
function validPath(targetPath: string): string {
  demand(Buffer.byteLength(targetPath) < MAX_PATH_BYTES, `target_path is longer than ${MAX_PATH_BYTES - 1} bytes`)
  demand(isAbsolute(targetPath) && !targetPath.includes('\0'), `target_path "${targetPath}" is not an absolute path`)
  const path = resolve(targetPath)
  demand(path !== '/', `target_path "${targetPath}" is the root of the file system`)
  const hasNames = path.slice(1).split('/').every(isFileName)
  demand(hasNames, `target_path "${targetPath}" has a name that is too long`)
  return path
}

function demand(isMet: boolean, problem: string): void {
  if (!isMet) throw invalid(problem)
}

const invalid = (problem: string) => new StatusError(STATUS.invalidArgument, problem)
