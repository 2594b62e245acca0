/** Which agent runs on which node: what the node controller needs when a node goes away. */
import { Pods } from '@reeve/kube'
import { type CacheReader, formatTime } from '@reeve/runtime'
import { needsOneAgentDaemonSet } from '../../api/dynakube/one-agent-facts.ts'
import { oneAgentLabels } from './components/one-agent/one-agent.ts'
import type { ClusterPass } from './resolve/pass.ts'

/** Keeps the agents in the status, at most once per interval: pods come and go all the time. */
export function reportInstances({ draft, clock, view }: ClusterPass, cache: CacheReader, intervalMs: number): void {
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
  const instances = pods.flatMap(({ metadata, spec, status }) =>
    spec?.nodeName ? [[spec.nodeName, { podName: metadata.name, ipAddress: status?.hostIP ?? '' }] as const] : [],
  )
  draft.updateOneAgent({
    instances: Object.fromEntries(instances.sort(([left], [right]) => (left < right ? -1 : 1))),
    lastInstanceStatusUpdate: formatTime(clock.now()),
  })
}
