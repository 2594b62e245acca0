/** The status a kubelet would report for a pod, as a value. */
import type { Condition, Container, ContainerState, ContainerStatus, Pod, PodStatus } from './objects.ts'
import type { PodBehaviour } from './pod-behaviour.ts'

/** The addresses that the simulated node gives a pod. */
export interface PodHost {
  readonly hostIP: string
  readonly podIP: string
}

export interface PodReport {
  readonly status: PodStatus
  /** Milliseconds until the status changes without an external cause; `undefined`: not before the pod changes. */
  readonly nextChangeMs: number | undefined
}

const FIRST_RESTART_DELAY_MS = 1_000
const LONGEST_RESTART_DELAY_MS = 60_000

/**
 * The status of a pod bound to a simulated node, at `nowMs`.
 *
 * Guarantees: given its own result it returns an equal one until `nextChangeMs` has passed, so a caller that writes
 * only differences converges.
 */
export function reportPod(pod: Pod, behaviour: PodBehaviour, host: PodHost, nowMs: number): PodReport {
  const now = timestamp(nowMs)
  const previous = pod.status ?? {}
  const run = runOf(pod, behaviour, previous.containerStatuses?.[0], nowMs)
  const statuses = (containers: readonly Container[], before: readonly ContainerStatus[] = [], isInit: boolean) =>
    containers.map((container) => {
      const last = before.find((status) => status.name === container.name)
      return containerStatus(pod, container, last, isInit ? initState(container, run, last, now) : run, behaviour)
    })
  const initContainerStatuses = statuses(pod.spec.initContainers ?? [], previous.initContainerStatuses, true)
  const containerStatuses = statuses(pod.spec.containers, previous.containerStatuses, false)
  const hostIP = host.hostIP
  const podIP = pod.spec.hostNetwork ? hostIP : host.podIP
  return {
    nextChangeMs: run.nextChangeMs,
    status: {
      phase: run.phase,
      observedGeneration: pod.metadata.generation,
      conditions: conditionsOf(pod, run, containerStatuses, now),
      hostIP,
      hostIPs: [{ ip: hostIP }],
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: previous.startTime ?? now,
      ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
      containerStatuses,
    },
  }
}

/** The status of a pod whose containers were stopped: a kubelet reports it before it deletes the object. */
export function reportTerminated(pod: Pod, nowMs: number): PodStatus {
  const now = timestamp(nowMs)
  const end = (status: ContainerStatus): ContainerStatus => ({
    ...status,
    ready: false,
    started: false,
    state: status.state.terminated ? status.state : terminated(0, status.state.running?.startedAt ?? now, now),
  })
  const isFailed = pod.status?.phase === 'Failed'
  return {
    phase: isFailed ? 'Failed' : 'Succeeded',
    observedGeneration: pod.metadata.generation,
    conditions: ['Ready', 'ContainersReady'].map((type) => condition(pod, type, false, now, 'PodCompleted')),
    initContainerStatuses: pod.status?.initContainerStatuses?.map(end),
    containerStatuses: pod.status?.containerStatuses?.map(end),
  }
}

/** The state all main containers of a pod share: they start and end together. */
interface Run {
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  readonly state: ContainerState
  readonly lastState?: ContainerState
  readonly restartCount: number
  readonly nextChangeMs: number | undefined
}

function runOf(pod: Pod, behaviour: PodBehaviour, before: ContainerStatus | undefined, nowMs: number): Run {
  const restartCount = before?.restartCount ?? 0
  if (behaviour.waitingReason !== undefined) {
    return {
      phase: 'Pending',
      state: { waiting: { reason: behaviour.waitingReason } },
      restartCount,
      nextChangeMs: undefined,
    }
  }
  const now = timestamp(nowMs)
  const crash = before?.lastState?.terminated
  if (before?.state.waiting !== undefined && crash !== undefined) {
    const delayMs = Math.min(FIRST_RESTART_DELAY_MS * 2 ** (restartCount - 1), LONGEST_RESTART_DELAY_MS)
    const restartsInMs = Date.parse(crash.finishedAt ?? now) + delayMs - nowMs
    if (restartsInMs > 0) {
      return {
        phase: 'Running',
        state: before.state,
        lastState: before.lastState,
        restartCount,
        nextChangeMs: restartsInMs,
      }
    }
  }
  const ended = before?.state.terminated
  const startedAt = before?.state.running?.startedAt ?? ended?.startedAt ?? now
  const remainingMs = Date.parse(startedAt) + behaviour.runForMs - nowMs
  if (ended === undefined && remainingMs > 0) {
    const nextChangeMs = Number.isFinite(remainingMs) ? remainingMs : undefined
    return {
      phase: 'Running',
      state: { running: { startedAt } },
      lastState: before?.lastState,
      restartCount,
      nextChangeMs,
    }
  }
  const end = ended ? { terminated: ended } : terminated(behaviour.exitCode, startedAt, now)
  const exitCode = end.terminated?.exitCode ?? 0
  const policy = pod.spec.restartPolicy ?? 'Always'
  if (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0)) {
    return { phase: exitCode === 0 ? 'Succeeded' : 'Failed', state: end, restartCount, nextChangeMs: undefined }
  }
  return {
    phase: 'Running',
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: end,
    restartCount: restartCount + 1,
    nextChangeMs: Math.min(FIRST_RESTART_DELAY_MS * 2 ** restartCount, LONGEST_RESTART_DELAY_MS),
  }
}

// An init container has exited before the others start, unless it is a sidecar, which runs as long as they do.
function initState(container: Container, run: Run, before: ContainerStatus | undefined, now: string): Run {
  if (run.phase === 'Pending') return { ...run, state: { waiting: { reason: 'PodInitializing' } } }
  const isSidecar = container.restartPolicy === 'Always'
  const isOver = run.phase === 'Succeeded' || run.phase === 'Failed'
  const startedAt = before?.state.running?.startedAt ?? before?.state.terminated?.startedAt ?? now
  const state =
    isSidecar && !isOver
      ? { running: { startedAt } }
      : before?.state.terminated
        ? before.state
        : terminated(0, startedAt, now)
  return { ...run, state, lastState: undefined, restartCount: 0 }
}

function containerStatus(
  pod: Pod,
  container: Container,
  before: ContainerStatus | undefined,
  run: Run,
  behaviour: PodBehaviour,
): ContainerStatus {
  const image = container.image ?? ''
  const isReplaced = before !== undefined && before.image !== image
  const isRunning = run.state.running !== undefined
  const isCompleted = run.state.terminated?.exitCode === 0
  return {
    name: container.name,
    image,
    imageID: `simulated://${image}`,
    ...(run.state.waiting === undefined && { containerID: `simulated://${pod.metadata.uid}/${container.name}` }),
    ready: (isRunning && behaviour.isReady) || (isCompleted && pod.spec.initContainers?.includes(container) === true),
    started: isRunning,
    restartCount: run.restartCount + (isReplaced ? 1 : 0),
    state: run.state,
    lastState: run.lastState ?? {},
  }
}

function conditionsOf(pod: Pod, run: Run, statuses: readonly ContainerStatus[], now: string): Condition[] {
  const isOver = run.phase === 'Succeeded' || run.phase === 'Failed'
  const areContainersReady = statuses.every((status) => status.ready)
  const gates = pod.spec.readinessGates ?? []
  const areGatesOpen = gates.every(({ conditionType }) =>
    pod.status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'),
  )
  const notReady = isOver ? 'PodCompleted' : 'ContainersNotReady'
  return [
    condition(pod, 'PodReadyToStartContainers', !isOver, now),
    condition(pod, 'Initialized', run.phase !== 'Pending', now, isOver ? 'PodCompleted' : 'ContainersNotInitialized'),
    condition(pod, 'ContainersReady', areContainersReady, now, notReady),
    condition(
      pod,
      'Ready',
      areContainersReady && areGatesOpen,
      now,
      areContainersReady ? 'ReadinessGatesNotReady' : notReady,
    ),
    condition(pod, 'PodScheduled', true, now),
  ]
}

function condition(pod: Pod, type: string, isTrue: boolean, now: string, reasonIfFalse?: string): Condition {
  const status = isTrue ? 'True' : 'False'
  const before = pod.status?.conditions?.find((candidate) => candidate.type === type)
  return {
    type,
    status,
    observedGeneration: pod.metadata.generation,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : now,
    ...(!isTrue && reasonIfFalse !== undefined && { reason: reasonIfFalse }),
  }
}

function terminated(exitCode: number, startedAt: string, finishedAt: string): ContainerState {
  return { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt } }
}

/** Kubernetes timestamps have a resolution of one second; anything finer would differ from what is read back. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
