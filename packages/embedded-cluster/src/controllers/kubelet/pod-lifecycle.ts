/** The lifecycle of a pod on its node as a pure function: from spec and behaviour to the next status. */
import { timestamp } from '../../clock.ts'
import { withCondition } from '../conditions.ts'
import type { Condition } from '../kinds/meta.ts'
import { type Container, type ContainerStatus, isFinished, type Pod, type PodStatus } from '../kinds/pods.ts'
import {
  type ContainerSituation,
  type ContainerStep,
  type ContainerTimes,
  ended,
  stepContainer,
  waitingContainer,
} from './container-lifecycle.ts'
import type { ContainerRole, PodBehaviour } from './pod-behaviour.ts'

/** State of a pod that is kept between reconciles. */
export interface PodMemory {
  /** When the node first saw it. */
  readonly acceptedAtMs: number
  readonly times: ContainerTimes
}

/** Inputs that depend on the node and the cluster. */
export interface NodeContext {
  readonly behaviour: PodBehaviour
  readonly hostIP: string
  /** The pod's address; only called when the pod starts. */
  readonly podIP: () => string
  /** The reason why a volume cannot be mounted, if its source is missing. */
  readonly unmountable: string | undefined
  /** The missing reference in the container's env, if any. */
  readonly missingFor: (container: Container) => string | undefined
}

/** A pod's next status, and when to update it again; infinite when only an event changes it. */
export interface PodStep {
  readonly status: PodStatus
  readonly wakeAtMs: number
}

/** The pod's status at `nowMs`. A terminated pod does not change. */
export function stepPod(pod: Pod, memory: PodMemory, node: NodeContext, nowMs: number): PodStep {
  const { behaviour, hostIP } = node
  if (isFinished(pod)) return { status: pod.status ?? {}, wakeAtMs: Number.POSITIVE_INFINITY }
  const base: PodStatus = {
    ...pod.status,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    startTime: pod.status?.startTime ?? timestamp(nowMs),
  }
  if (behaviour.isEvicted) {
    return { status: stoppedStatus(pod, base, 'Evicted', nowMs), wakeAtMs: Number.POSITIVE_INFINITY }
  }
  const startAtMs = memory.acceptedAtMs + behaviour.startDelayMs
  const hasStarted = pod.status?.podIP !== undefined
  if (!hasStarted && (nowMs < startAtMs || behaviour.isStuck || node.unmountable !== undefined)) {
    const status = withConditions(pod, notStarted(pod, base, node), { isSetUp: false, isInitialized: false }, nowMs)
    return { status, wakeAtMs: nowMs < startAtMs ? startAtMs : Number.POSITIVE_INFINITY }
  }
  const podIP = pod.status?.podIP ?? node.podIP()
  return run(pod, { ...base, podIP, podIPs: [{ ip: podIP }] }, memory, node, nowMs)
}

/** The status of a pod that was stopped. */
export function stoppedStatus(pod: Pod, base: PodStatus, reason: string | undefined, nowMs: number): PodStatus {
  const stop = (statuses: readonly ContainerStatus[] = []) =>
    statuses.map((status) =>
      status.state.terminated === undefined ? ended(status, { code: 137, reason: 'Error' }, nowMs) : status,
    )
  const status: PodStatus = {
    ...base,
    phase: 'Failed',
    ...(reason === undefined ? {} : { reason, message: 'the pod was stopped by the simulation' }),
    containerStatuses: stop(base.containerStatuses),
    ...(base.initContainerStatuses === undefined ? {} : { initContainerStatuses: stop(base.initContainerStatuses) }),
  }
  return withConditions(pod, status, { isSetUp: false, isInitialized: true }, nowMs)
}

function notStarted(pod: Pod, base: PodStatus, node: NodeContext): PodStatus {
  const situationOf = situationsOf(pod, node)
  const hasInit = (pod.spec.initContainers ?? []).length > 0
  const waiting = (role: ContainerRole, reason: string) => (container: Container) =>
    waitingContainer(situationOf(container, role), reason)
  const init = pod.spec.initContainers?.map(waiting('init', 'PodInitializing'))
  const main = pod.spec.containers.map(waiting('main', hasInit ? 'PodInitializing' : 'ContainerCreating'))
  return {
    ...base,
    phase: 'Pending',
    ...(init === undefined ? {} : { initContainerStatuses: init }),
    containerStatuses: main,
  }
}

function run(pod: Pod, base: PodStatus, memory: PodMemory, node: NodeContext, nowMs: number): PodStep {
  const situationOf = situationsOf(pod, node)
  let isBlocked = false
  const step = (container: Container, role: ContainerRole): ContainerStep => {
    const situation = situationOf(container, role)
    if (!isBlocked) return stepContainer(situation, memory.times, nowMs)
    const status = waitingContainer(situation, 'PodInitializing')
    return { status, wakeAtMs: Number.POSITIVE_INFINITY, isDone: false }
  }
  const init: ContainerStep[] = []
  for (const container of pod.spec.initContainers ?? []) {
    const role = container.restartPolicy === 'Always' ? 'sidecar' : 'init'
    const taken = step(container, role)
    init.push(taken)
    isBlocked ||= role === 'sidecar' ? !taken.status.started : !hasSucceeded(taken)
  }
  const isInitialized = !isBlocked
  const hasInitFailed = init.some((taken) => taken.isDone && !hasSucceeded(taken))
  const main = pod.spec.containers.map((container) => step(container, 'main'))
  const ephemeral = (pod.spec.ephemeralContainers ?? []).map((container) => step(container, 'ephemeral'))
  const isOver = hasInitFailed || main.every(({ isDone }) => isDone)
  const phase = isOver ? finalPhase(hasInitFailed, main) : isInitialized && main.some(hasBegun) ? 'Running' : 'Pending'
  const initStatuses = init.map(({ status }) => (isOver ? stopped(status, nowMs) : status))
  const status: PodStatus = {
    ...base,
    phase,
    ...(init.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: main.map((taken) => taken.status),
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral.map((taken) => taken.status) }),
  }
  // Not Math.min(...list): a pod may have more containers than a call takes arguments.
  const earliest = [...init, ...main, ...ephemeral].reduce((ms, taken) => Math.min(ms, taken.wakeAtMs), Infinity)
  const wakeAtMs = isOver ? Number.POSITIVE_INFINITY : earliest
  return { status: withConditions(pod, status, { isSetUp: !isOver, isInitialized }, nowMs), wakeAtMs }
}

type SituationOf = (container: Container, role: ContainerRole) => ContainerSituation

/** The situation of each container. Statuses are found by name in constant time: a pod may have thousands. */
function situationsOf(pod: Pod, node: NodeContext): SituationOf {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {}
  const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  const priors = new Map(statuses.map((status) => [status.name, status]))
  return (container, role) => situationOf(pod, container, role, node, priors.get(container.name))
}

function situationOf(
  pod: Pod,
  container: Container,
  role: ContainerRole,
  { behaviour, missingFor }: NodeContext,
  prior: ContainerStatus | undefined,
): ContainerSituation {
  const planned = behaviour.planOf(container, role)
  const missing = missingFor(container)
  const plan =
    missing === undefined
      ? planned
      : { ...planned, waiting: { reason: 'CreateContainerConfigError', message: missing } }
  const { restartPolicy = 'Always' } = pod.spec
  const restarts = { main: restartPolicy, init: restartPolicy === 'Never' ? 'Never' : 'OnFailure', sidecar: 'Always' }
  const applied = role === 'ephemeral' ? 'Never' : restarts[role]
  return { container, role, plan, prior, podUid: pod.metadata.uid, restartPolicy: applied }
}

function hasSucceeded({ status }: ContainerStep): boolean {
  return status.state.terminated?.exitCode === 0
}

function hasBegun({ status }: ContainerStep): boolean {
  return status.state.waiting === undefined || status.lastState.terminated !== undefined
}

function finalPhase(hasInitFailed: boolean, main: readonly ContainerStep[]): string {
  return !hasInitFailed && main.every(hasSucceeded) ? 'Succeeded' : 'Failed'
}

/** Sidecars terminate with the containers they serve. */
function stopped(status: ContainerStatus, nowMs: number): ContainerStatus {
  return status.state.running === undefined ? status : ended(status, { code: 0, reason: 'Completed' }, nowMs)
}

/** How far the pod has progressed, for its conditions. */
interface Milestones {
  readonly isSetUp: boolean
  readonly isInitialized: boolean
}

function withConditions(pod: Pod, status: PodStatus, { isSetUp, isInitialized }: Milestones, nowMs: number): PodStatus {
  const now = timestamp(nowMs)
  const over = status.phase === 'Succeeded' ? 'PodCompleted' : status.phase === 'Failed' ? 'PodFailed' : undefined
  const sidecars = sidecarNames(pod)
  const serving = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ]
  const unready = serving.filter(({ ready }) => !ready).map(({ name }) => name)
  const why = { reason: over ?? 'ContainersNotReady', message: `not ready: ${unready.join(', ')}` }
  const areContainersReady = over === undefined && unready.length === 0
  const gates = (pod.spec.readinessGates ?? []).map(({ conditionType }) => conditionType)
  const isGated = gates.some((type) => status.conditions?.find((other) => other.type === type)?.status !== 'True')
  const gated = { reason: 'ReadinessGatesNotReady', message: `waiting for: ${gates.join(', ')}` }
  let conditions = status.conditions
  for (const condition of [
    statement('PodReadyToStartContainers', isSetUp, {}),
    statement('Initialized', isInitialized, {
      reason: 'ContainersNotInitialized',
      message: 'init containers have not finished',
    }),
    statement('Ready', areContainersReady && !isGated, areContainersReady ? gated : why),
    statement('ContainersReady', areContainersReady, why),
    statement('PodScheduled', true, {}),
  ]) {
    conditions = withCondition(conditions, condition, now)
  }
  return { ...status, conditions: conditions ?? [] }
}

function sidecarNames({ spec }: Pod): ReadonlySet<string> {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  return new Set(sidecars.map(({ name }) => name))
}

function statement(type: string, holds: boolean, otherwise: { reason?: string; message?: string }): Condition {
  return holds ? { type, status: 'True' } : { type, status: 'False', ...otherwise }
}
