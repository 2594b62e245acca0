/** The image that an EdgeConnect runs, pinned by its digest unless it is the user's own. */
import type { Clock } from '@reeve/http'
import {
  createRegistryClient,
  DOCKER_CONFIG_KEY,
  type DockerConfig,
  parseDockerConfig,
  type RegistryClient,
  type RegistryClientOptions,
} from '@reeve/oci'
import { formatTime, type Logger } from '@reeve/runtime'
import { edgeConnectImage, isAutoUpdated, isCustomImage } from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect, EdgeConnectStatus } from '../../../../api/latest.ts'
import { USER_AGENT } from '../../../../tenant/client/defaults.ts'
import type { NamespaceView } from '../../../references/namespace-view.ts'
import { isImage } from '../../../rendering/image.ts'
import { type EdgeConnectComponent, viewOf } from '../../edge-connect-component.ts'

/** How often a registry is checked for a newer image. */
const PROBE_INTERVAL_MS = 15 * 60_000

/** The dependencies of resolving an image. */
export interface ImageContext {
  readonly view: Pick<NamespaceView, 'namespace' | 'secret'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'warn'>
  readonly signal: AbortSignal
  readonly openRegistry: (options: RegistryClientOptions) => RegistryClient
}

type VersionStatus = NonNullable<EdgeConnectStatus['version']>

/**
 * The image to run.
 *
 * *Errors*: `RegistryCredentialsError` when the pull secret is invalid, whether or not it is needed now: pods cannot be
 * pulled with it either. Errors of the registry without an earlier image; otherwise the last one stays.
 *
 * @example
 * const version = await resolveImage(edgeConnect, context)
 */
export async function resolveImage(edgeConnect: EdgeConnect, context: ImageContext): Promise<VersionStatus> {
  const credentials = credentialsOf(edgeConnect, context.view)
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
    await using registry = context.openRegistry({ userAgent: USER_AGENT, ...(credentials && { credentials }) })
    const digest = await registry.digest(wanted, { signal: context.signal })
    return { ...stored, imageID: `${wanted}@${digest}`, source: 'public-registry', lastProbeTimestamp }
  } catch (error) {
    context.signal.throwIfAborted()
    // An unavailable registry must not stop running pods, nor be called all the time.
    if (isOther) throw error
    context.logger.warn({ err: error, image: wanted }, 'could not check a registry for a newer image')
    return { ...stored, lastProbeTimestamp }
  }
}

/** Without a pull secret, or while it does not exist, requests are anonymous. */
function credentialsOf({ spec }: EdgeConnect, view: ImageContext['view']): DockerConfig | undefined {
  const name = spec.customPullSecret
  const data = name ? view.secret(name) : undefined
  return data && parseDockerConfig(data[DOCKER_CONFIG_KEY], `Secret ${view.namespace}/${name}`)
}

/** Keeps the image in the status; a registry is checked for a newer one periodically. */
export const image: EdgeConnectComponent = {
  name: 'image',
  async resolve(context) {
    const { clock, logger, signal, dependencies, reporter } = context
    const openRegistry = dependencies.openRegistry ?? createRegistryClient
    reporter.update({ kubeSystemUID: dependencies.clusterId })
    const version = await resolveImage(context.primary, { view: viewOf(context), clock, logger, signal, openRegistry })
    reporter.update({ version })
    return undefined
  },
  mayOwn: () => [],
}
