/** The webhook that labels namespaces with their DynaKube, so that the first pod of a new one is injected already. */
import type { KubeClient, Namespace } from '@reeve/kube'
import {
  type AdmissionRequest,
  allow,
  deny,
  type Logger,
  mutate,
  mutatingWebhook,
  silentLogger,
  type WebhookRoute,
} from '@reeve/runtime'
import type { Approval, Denial, Mutation } from '@reeve/runtime/webhooks'
import type { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import { DynaKubes } from '../../api/latest.ts'
import {
  INSTANCE_LABEL,
  instancesOf,
  NamespaceConflictError,
  NamespaceSelectorError,
} from '../../controllers/dynakube/components/injection/map-namespaces.ts'
import { MAPPED_BY_OPERATOR } from '../../controllers/dynakube/components/injection/namespace-objects.ts'
import { withoutNulls } from '../decode.ts'

/** Where the API server sends namespaces. */
export const LABEL_NAMESPACE_PATH = '/label-ns'

/** What the list of DynaKubes may take, retries included. */
const REQUEST_TIMEOUT_MS = 3_000

/** Options of {@link labelNamespaceRoute}. */
export interface LabelNamespaceOptions {
  readonly client: KubeClient
  /** The operator's own namespace. Its pods are infrastructure and never injected. */
  readonly namespace: string
  readonly ignoredNamespaces: IgnoredNamespacePatterns
  readonly logger?: Logger
}

/**
 * The route for namespaces. A namespace that two DynaKubes claim is denied; one that cannot be mapped because DynaKubes
 * cannot be read is admitted, and the operator labels it later.
 */
export function labelNamespaceRoute(options: LabelNamespaceOptions): WebhookRoute {
  return mutatingWebhook<Namespace>(LABEL_NAMESPACE_PATH, (request, signal) => label(request, options, signal))
}

async function label(
  { object, operation }: AdmissionRequest<Namespace>,
  { client, namespace, ignoredNamespaces, logger = silentLogger }: LabelNamespaceOptions,
  signal: AbortSignal,
): Promise<Mutation | Approval | Denial> {
  if (object === undefined || operation === 'DELETE') return allow()
  const { metadata } = withoutNulls(object)
  const name = metadata.name || metadata.generateName || ''
  if (name === namespace) return allow()
  if (metadata.annotations?.[MAPPED_BY_OPERATOR] !== undefined) return mutate(withoutMarker(object))
  // Denying would keep a namespace that is being deleted.
  if (metadata.deletionTimestamp !== undefined) return allow()
  const { labels = {} } = metadata
  try {
    const { items } = await client.listAll(DynaKubes, { namespace, limit: 0, signal, timeoutMs: REQUEST_TIMEOUT_MS })
    const dynakubes = items.filter((dynakube) => dynakube.metadata.deletionTimestamp === undefined)
    // The API server sets this label itself, in some versions after admission.
    const known = { name, labels: { ...labels, 'kubernetes.io/metadata.name': name } }
    const instance = instancesOf(dynakubes, [known], ignoredNamespaces).get(name)
    return instance === labels[INSTANCE_LABEL] ? allow() : mutate(labelled(object, instance))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NamespaceConflictError || error instanceof NamespaceSelectorError) {
      return deny(error.message, { code: 400, reason: 'BadRequest' })
    }
    logger.warn({ err: error, name }, 'could not map a namespace: the operator will do it later')
    const message = `the namespace is not mapped to a DynaKube yet: ${error instanceof Error ? error.message : error}`
    return { allowed: true, message }
  }
}

function withoutMarker(namespace: Namespace): Namespace {
  const { [MAPPED_BY_OPERATOR]: _, ...annotations } = namespace.metadata.annotations ?? {}
  return { ...namespace, metadata: { ...namespace.metadata, annotations } }
}

function labelled(namespace: Namespace, instance: string | undefined): Namespace {
  const { [INSTANCE_LABEL]: _, ...others } = namespace.metadata.labels ?? {}
  const labels = instance === undefined ? others : { ...others, [INSTANCE_LABEL]: instance }
  return { ...namespace, metadata: { ...namespace.metadata, labels } }
}
