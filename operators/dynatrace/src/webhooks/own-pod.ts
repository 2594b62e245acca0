/** What the webhook server finds out about itself and its cluster before it serves. */
import { isNotFound, type KubeClient, type Pod, Pods, type Stored } from '@reeve/kube'
import { type Logger, silentLogger } from '@reeve/runtime'
import { ApiEventRecorder } from '@reeve/runtime/events'
import { WEBHOOK_NAME } from '../installed-names.ts'

const CONTAINER = 'webhook'
const LEGACY_KIND = 'OneAgentAPM'

/** Options of requests. */
interface Options {
  readonly signal: AbortSignal
  readonly logger?: Logger
}

/**
 * The pod of this process, whose image becomes that of init containers.
 *
 * *Errors*: the client's, when there is no such pod.
 */
export async function readOwnPod(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string | undefined },
  { signal }: Options,
): Promise<Stored<Pod>> {
  if (!name) throw new Error('POD_NAME is not set: set it to the name of the pod of this process')
  return client.get(Pods, { namespace, name }, { signal })
}

/** The image of the webhook. *Errors*: one that names the pod without such a container. */
export function webhookImage({ metadata, spec }: Stored<Pod>): string {
  const { image } = spec?.containers.find(({ name }) => name === CONTAINER) ?? {}
  if (image) return image
  throw new Error(`the pod ${metadata.namespace}/${metadata.name} does not have a container ${CONTAINER} with an image`)
}

/** Whether the cluster is OpenShift. A cluster that does not say counts as plain Kubernetes. */
export async function isOpenShift(client: KubeClient, { signal, logger = silentLogger }: Options): Promise<boolean> {
  try {
    await client.raw({ method: 'GET', path: '/apis/security.openshift.io/v1', signal })
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (!isNotFound(error)) logger.error({ err: error }, 'could not detect the platform: assuming plain Kubernetes')
    return false
  }
}

interface GroupDocument {
  readonly versions?: readonly { readonly groupVersion?: string }[]
}

interface ResourcesDocument {
  readonly resources?: readonly { readonly kind?: string }[]
}

/**
 * Refuses to start beside the former OneAgent operator, which injects pods as well. People find the reason as an event
 * on the pod.
 *
 * *Errors*: one that says what to remove.
 */
export async function refuseLegacyOperator(client: KubeClient, pod: Pod, options: Options): Promise<void> {
  const { signal, logger = silentLogger } = options
  const read = async <T>(path: string): Promise<T | undefined> => {
    try {
      return await client.raw<T>({ method: 'GET', path, signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
  const group = await read<GroupDocument>('/apis/dynatrace.com')
  for (const { groupVersion } of group?.versions ?? []) {
    const { resources = [] } = (await read<ResourcesDocument>(`/apis/${groupVersion}`)) ?? {}
    if (!resources.some(({ kind }) => kind === LEGACY_KIND)) continue
    const message = `the cluster has the kind ${LEGACY_KIND} of the OneAgent operator: remove its CRD, then restart`
    const events = new ApiEventRecorder(client, { component: WEBHOOK_NAME, logger })
    events.record(pod, { type: 'Warning', reason: 'IncompatibleCRDPresent', message })
    // Sends what is queued, for a bounded time.
    await events.run(AbortSignal.abort())
    throw new Error(message)
  }
}
