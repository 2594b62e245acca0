/** Which agent runs on which node: what the node controller needs when a node is removed. */
import type { Clock } from '@reeve/http'
import { type ObjectKey, type Pod, Pods, type Stored } from '@reeve/kube'
import { type CacheReader, formatTime } from '@reeve/runtime'
import type { Transform } from '@reeve/runtime/cache'
import { labelsChanged, type Predicate } from '@reeve/runtime/controller'
import { isJsonEqual } from '@reeve/runtime/engine'
import { needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import { DynaKubes } from '../../../../api/latest.ts'
import { CREATED_BY } from '../../../rendering/labels.ts'
import {
  type DynaKubeComponent,
  type DynaKubeContext,
  type DynaKubeReporter,
  RENDERS_NOTHING,
} from '../../dynakube-component.ts'
import { updateOneAgent } from '../../status-parts.ts'
import { tenant } from '../tenant/tenant.ts'
import { oneAgent, oneAgentLabels } from './one-agent.ts'

/**
 * Keeps only the fields of agent pods that the status needs: on thousands of nodes the rest would be most of the
 * memory.
 */
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

/** Passes changes of what the status lists. A pod without a node is not listed: it passes once it has one. */
const placeChanged: Predicate<Pod> = (change) => {
  const { spec, status } = change.object
  if (change.type !== 'modified') return spec?.nodeName !== undefined
  const { previous } = change
  return (
    previous.spec?.nodeName !== spec?.nodeName ||
    previous.status?.hostIP !== status?.hostIP ||
    // Labels decide which pods count.
    labelsChanged(change)
  )
}

/**
 * The pods that {@link instances} reads, how little of them, and which of their changes reconcile the DynaKube.
 *
 * The events of the DaemonSet are not enough: the cache of pods may be older than that of DaemonSets, and then nothing
 * would reconcile when the pods arrive. Probes and restarts change a pod all the time and cause nothing. On thousands of
 * nodes all pods have the same DynaKube, which is in the queue once.
 */
export const AGENT_PODS = {
  resource: Pods,
  labelSelector: 'app.kubernetes.io/managed-by=dynatrace-operator,app.kubernetes.io/name=oneagent',
  transform: keepAddress,
  predicate: placeChanged,
  map: dynaKubeOf,
}

/** A deleted DynaKube has no status: its remaining pods cause no reconcile. */
function dynaKubeOf({ metadata }: Stored<Pod>, cache: CacheReader): readonly ObjectKey[] {
  const { namespace = '', labels } = metadata
  const key = { namespace, name: labels?.[CREATED_BY] ?? '' }
  return cache.get(DynaKubes, key) === undefined ? [] : [key]
}

const INTERVAL_MS = 5 * 60_000

/**
 * Keeps the agents in the status. They are written at most once per interval, because pods change often, and only
 * when they differ; {@link instancesDueMs} says when to write those that changed within the interval.
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
  if (!needsOneAgentDaemonSet(reporter.primary)) {
    updateOneAgent(reporter, { instances: undefined, lastInstanceStatusUpdate: undefined })
    return
  }
  if (restOfIntervalMs(reporter, clock, dependencies.instancesIntervalMs) > 0) return
  const current = agentsByNode(reporter, cache)
  if (isJsonEqual(reporter.status?.oneAgent?.instances, current)) return
  updateOneAgent(reporter, { instances: current, lastInstanceStatusUpdate: formatTime(clock.now()) })
}

/**
 * In how many milliseconds the agents have to be written: `undefined` when the status lists them already. Without this, a
 * change within the interval would wait for the next change or for the periodic reconcile.
 */
export function instancesDueMs(
  reporter: DynaKubeReporter,
  { clock, cache }: { readonly clock: Pick<Clock, 'now'>; readonly cache: CacheReader },
  intervalMs?: number,
): number | undefined {
  const restMs = restOfIntervalMs(reporter, clock, intervalMs)
  if (restMs <= 0 || !needsOneAgentDaemonSet(reporter.primary)) return undefined
  return isJsonEqual(reporter.status?.oneAgent?.instances, agentsByNode(reporter, cache)) ? undefined : restMs
}

/** How much of the interval since the last write is left; zero when there was none. */
function restOfIntervalMs({ status }: DynaKubeReporter, clock: Pick<Clock, 'now'>, intervalMs = INTERVAL_MS): number {
  const last = Date.parse(status?.oneAgent?.lastInstanceStatusUpdate ?? '')
  return Number.isNaN(last) ? 0 : last + intervalMs - clock.now()
}

function agentsByNode({ primary: dynakube }: DynaKubeReporter, cache: CacheReader) {
  const wanted = Object.entries(oneAgentLabels(dynakube).all)
  const pods = cache
    .list(Pods, { namespace: dynakube.metadata.namespace ?? '' })
    .filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value))
  const found = pods.flatMap(({ metadata, spec, status: { hostIP = '' } = {} }) =>
    spec?.nodeName ? [[spec.nodeName, { podName: metadata.name, ipAddress: hostIP }] as const] : [],
  )
  return Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)))
}
