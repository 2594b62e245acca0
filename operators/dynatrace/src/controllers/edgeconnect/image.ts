/** Which image an EdgeConnect runs, pinned by its digest unless it is the user's own. */
import type { Clock } from '@reeve/kube'
import { formatTime } from '@reeve/runtime'
import { edgeConnectImage, isAutoUpdated, isCustomImage } from '../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect, EdgeConnectStatus } from '../../api/latest.ts'
import { DOCKER_CONFIG_KEY, parseDockerConfig } from '../../oci/docker-config.ts'
import type { RegistryClient, RegistryClientOptions } from '../../oci/registry-client.ts'
import { isImage } from '../dynakube/image.ts'
import type { NamespaceView } from '../dynakube/namespace-view.ts'

/** How often a registry is asked for a newer image. */
const PROBE_INTERVAL_MS = 15 * 60_000

/** What looking up an image needs. */
export interface ImageContext {
  readonly view: NamespaceView
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
  readonly openRegistry: (options: RegistryClientOptions) => RegistryClient
}

type VersionStatus = NonNullable<EdgeConnectStatus['version']>

/**
 * The image to run. *Errors*: errors of the registry, when there is no image yet; otherwise the last one stays.
 *
 * @example
 * const version = await resolveImage(edgeConnect, context)
 */
export async function resolveImage(edgeConnect: EdgeConnect, context: ImageContext): Promise<VersionStatus> {
  const wanted = edgeConnectImage(edgeConnect)
  const stored = edgeConnect.status?.version ?? {}
  const { clock } = context
  const isOther = !isImage(stored.imageID, wanted)
  const probedMs = Date.parse(stored.lastProbeTimestamp ?? '')
  const isOld = Number.isNaN(probedMs) || probedMs + PROBE_INTERVAL_MS <= clock.now()
  if (!isOther && !(isAutoUpdated(edgeConnect) && isOld)) return stored
  const lastProbeTimestamp = formatTime(clock.now())
  if (isCustomImage(edgeConnect)) {
    return { ...stored, imageID: wanted, source: 'custom-image', lastProbeTimestamp }
  }
  try {
    const digest = await lookUp(edgeConnect, wanted, context)
    return { ...stored, imageID: `${wanted}@${digest}`, source: 'public-registry', lastProbeTimestamp }
  } catch (error) {
    context.signal.throwIfAborted()
    // A registry that is away must not stop pods that run, nor be asked all the time.
    if (isOther) throw error
    return { ...stored, lastProbeTimestamp }
  }
}

async function lookUp(
  { spec }: EdgeConnect,
  image: string,
  { view, signal, openRegistry }: ImageContext,
): Promise<string> {
  const name = spec.customPullSecret
  const credentials = name
    ? parseDockerConfig(view.secret(name)?.[DOCKER_CONFIG_KEY], `Secret ${view.namespace}/${name}`)
    : undefined
  await using registry = openRegistry(credentials ? { credentials } : {})
  return await registry.digest(image, { signal })
}
