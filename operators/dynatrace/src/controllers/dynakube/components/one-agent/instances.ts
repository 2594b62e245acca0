/** Which agent runs on which node: what the node controller needs when a node goes away. */
import { type Pod, Pods } from '@reeve/kube'
import { type CacheReader, formatTime } from '@reeve/runtime'
import type { Transform } from '@reeve/runtime/cache'
import { isJsonEqual } from '@reeve/runtime/engine'
import { needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { ClusterPass } from '../../resolve/pass.ts'
import { oneAgentLabels } from './one-agent.ts'

/** Of the pod of an agent only what the status tells of it: on thousands of nodes the rest would be most of the memory. */
const keepAddress: Transform = (object) => {
  const { namespace, name, uid, resourceVersion, creationTimestamp, labels } = object.metadata
  // A transform is generic over all kinds; this one is given to an informer of pods only.
  const { spec, status } = object as Pod
  return {
    ...object,
    metadata: { namespace, name, uid, resourceVersion, creationTimestamp, labels },
    spec: { nodeName: spec?.nodeName },
    status: { hostIP: status?.hostIP },
  }
}

/** The pods that {@link reportInstances} reads, and how little of them. */
export const AGENT_PODS = {
  resource: Pods,
  labelSelector: 'app.kubernetes.io/managed-by=dynatrace-operator,app.kubernetes.io/name=oneagent',
  transform: keepAddress,
}

/**
 * Keeps the agents in the status. They are compared with it at most once per interval, as pods come and go all the time,
 * and written only when they differ: a time stamp alone is not worth a write.
 */
export function reportInstances(
  { draft, clock, view }: Pick<ClusterPass, 'draft' | 'clock' | 'view'>,
  cache: CacheReader,
  intervalMs: number,
): void {
  if (!needsOneAgentDaemonSet(draft.dynakube)) {
    draft.updateOneAgent({ instances: undefined, lastInstanceStatusUpdate: undefined })
    return
  }
  const last = Date.parse(draft.status.oneAgent?.lastInstanceStatusUpdate ?? '')
  if (last + intervalMs > clock.now()) return
  const wanted = Object.entries(oneAgentLabels(draft.dynakube).all)
  const pods = cache
    .list(Pods, { namespace: view.namespace })
    .filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value))
  const found = pods.flatMap(({ metadata, spec, status }) =>
    spec?.nodeName ? [[spec.nodeName, { podName: metadata.name, ipAddress: status?.hostIP ?? '' }] as const] : [],
  )
  const instances = Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)))
  if (isJsonEqual(draft.status.oneAgent?.instances, instances)) return
  draft.updateOneAgent({ instances, lastInstanceStatusUpdate: formatTime(clock.now()) })
}
