/** Which agent runs on which node: what the node controller needs when a node goes away. */
import { type Pod, Pods } from '@reeve/kube'
import { formatTime } from '@reeve/runtime'
import type { Transform } from '@reeve/runtime/cache'
import { isJsonEqual } from '@reeve/runtime/engine'
import { needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import { type DynaKubeComponent, type DynaKubeContext, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { updateOneAgent } from '../../status-parts.ts'
import { tenant } from '../tenant/tenant.ts'
import { oneAgent, oneAgentLabels } from './one-agent.ts'

/** Keeps only what the status needs of the pod of an agent: on thousands of nodes the rest would be most of the memory. */
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

/** The pods that {@link instances} reads, and how little of them. */
export const AGENT_PODS = {
  resource: Pods,
  labelSelector: 'app.kubernetes.io/managed-by=dynatrace-operator,app.kubernetes.io/name=oneagent',
  transform: keepAddress,
}

const INTERVAL_MS = 5 * 60_000

/**
 * Keeps the agents in the status. They are compared with it at most once per interval, as pods come and go all the time,
 * and written only when they differ.
 */
export const instances: DynaKubeComponent = {
  name: 'instances',
  after: [tenant, oneAgent],
  ...RENDERS_NOTHING,
  resolve(context) {
    reportInstances(context)
    return undefined
  },
}

function reportInstances({ reporter, clock, cache, dependencies }: DynaKubeContext): void {
  const { primary: dynakube, status } = reporter
  if (!needsOneAgentDaemonSet(dynakube)) {
    updateOneAgent(reporter, { instances: undefined, lastInstanceStatusUpdate: undefined })
    return
  }
  const last = Date.parse(status?.oneAgent?.lastInstanceStatusUpdate ?? '')
  const { instancesIntervalMs = INTERVAL_MS } = dependencies
  if (last + instancesIntervalMs > clock.now()) return
  const wanted = Object.entries(oneAgentLabels(dynakube).all)
  const pods = cache
    .list(Pods, { namespace: dynakube.metadata.namespace ?? '' })
    .filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value))
  const found = pods.flatMap(({ metadata, spec, status: { hostIP = '' } = {} }) =>
    spec?.nodeName ? [[spec.nodeName, { podName: metadata.name, ipAddress: hostIP }] as const] : [],
  )
  const current = Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)))
  if (isJsonEqual(status?.oneAgent?.instances, current)) return
  updateOneAgent(reporter, { instances: current, lastInstanceStatusUpdate: formatTime(clock.now()) })
}
