/** The states of one container: waiting, running, terminated, restarted with increasing delays. */
import { timestamp } from '../../clock.ts'
import { fnv1a } from '../hash.ts'
import type { Container, ContainerState, ContainerStatus } from '../kinds/pods.ts'
import { parseTimestamp } from '../time.ts'
import type { ContainerPlan, ContainerRole } from './pod-behaviour.ts'

const FIRST_BACK_OFF_MS = 10_000
const LONGEST_BACK_OFF_MS = 300_000
/**
 * After this many restarts the status of a crashing container no longer changes, so that the simulated cluster becomes
 * idle.
 */
const MOST_RESTARTS = 10

/** When each container entered its current state. Kept in memory, because the API only has a resolution of seconds. */
export type ContainerTimes = Map<string, { readonly state: string; readonly sinceMs: number }>

/** The inputs of a container's next step. */
export interface ContainerSituation {
  readonly container: Container
  readonly role: ContainerRole
  readonly plan: ContainerPlan
  /** `Always`, `OnFailure` or `Never`, for this container. */
  readonly restartPolicy: string
  /** Its last reported status. */
  readonly prior: ContainerStatus | undefined
  readonly podUid: string
}

/** A container's next status, and when to update it again. */
export interface ContainerStep {
  readonly status: ContainerStatus
  readonly wakeAtMs: number
  /** It has terminated and will not be restarted. */
  readonly isDone: boolean
}

/** A container that waits for others, or for the setup of the pod. */
export function waitingContainer({ container, prior }: ContainerSituation, reason: string): ContainerStatus {
  if (prior !== undefined) return { ...prior, ready: false, state: { waiting: { reason } } }
  return {
    name: container.name,
    state: { waiting: { reason } },
    lastState: {},
    ready: false,
    started: false,
    restartCount: 0,
    image: container.image ?? '',
    imageID: '',
  }
}

/** Advances the container as far as possible at `nowMs`. */
export function stepContainer(situation: ContainerSituation, times: ContainerTimes, nowMs: number): ContainerStep {
  let status = situation.prior ?? waitingContainer(situation, 'ContainerCreating')
  // At most these transitions: running, terminated, waiting for restart, running.
  for (let moves = 0; moves < 4; moves++) {
    const sinceMs = enteredAtMs(status, times, nowMs)
    const next = move(situation, status, sinceMs, nowMs)
    if (next === undefined) return settled(situation, status, sinceMs, nowMs)
    status = next
  }
  return settled(situation, status, enteredAtMs(status, times, nowMs), nowMs)
}

/** The state that follows immediately, if any. */
function move(
  situation: ContainerSituation,
  status: ContainerStatus,
  sinceMs: number,
  nowMs: number,
): ContainerStatus | undefined {
  const { plan, container } = situation
  const { waiting, running, terminated } = status.state
  if (running !== undefined) {
    if (status.image !== (container.image ?? '')) return replaced(status, nowMs)
    return nowMs >= sinceMs + plan.runForMs ? ended(status, plan.exit(status.restartCount), nowMs) : undefined
  }
  if (terminated !== undefined) return willRestart(situation, terminated.exitCode) ? backingOff(status) : undefined
  if (waiting?.reason === 'CrashLoopBackOff' && nowMs < restartAtMs(situation, status, sinceMs)) return undefined
  if (plan.waiting === undefined) return started(situation, status, nowMs)
  const { reason, message } = plan.waiting
  const isSame = waiting?.reason === reason && waiting.message === message
  return isSame ? undefined : { ...status, image: container.image ?? '', state: { waiting: { reason, message } } }
}

function restartAtMs({ plan, restartPolicy }: ContainerSituation, status: ContainerStatus, sinceMs: number): number {
  const willCrash = plan.runForMs === 0
  if (willCrash && restartPolicy === 'Always' && status.restartCount >= MOST_RESTARTS) return Number.POSITIVE_INFINITY
  return sinceMs + Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** status.restartCount)
}

function willRestart({ restartPolicy }: ContainerSituation, exitCode: number): boolean {
  return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0)
}

function started(situation: ContainerSituation, status: ContainerStatus, nowMs: number): ContainerStatus {
  const hasRun = status.lastState.terminated !== undefined
  const restartCount = status.restartCount + (hasRun ? 1 : 0)
  const { container, podUid } = situation
  const image = container.image ?? ''
  return {
    ...status,
    restartCount,
    image,
    imageID: `${image.split('@')[0]}@sha256:${digest(image)}`,
    containerID: `simulator://${digest(`${podUid}/${container.name}/${restartCount}`)}`,
    state: { running: { startedAt: timestamp(nowMs) } },
  }
}

/** A running container terminates. */
export function ended(
  status: ContainerStatus,
  exit: { readonly code: number; readonly reason: string },
  nowMs: number,
): ContainerStatus {
  const startedAt = status.state.running?.startedAt ?? timestamp(nowMs)
  const { containerID } = status
  const terminated = {
    exitCode: exit.code,
    reason: exit.reason,
    startedAt,
    finishedAt: timestamp(nowMs),
    ...(containerID === undefined ? {} : { containerID }),
  }
  return { ...status, ready: false, started: false, state: { terminated } }
}

/** The image was changed in place: the container is restarted immediately. */
function replaced(status: ContainerStatus, nowMs: number): ContainerStatus {
  const lastState = ended(status, { code: 0, reason: 'Completed' }, nowMs).state
  return { ...status, ready: false, started: false, lastState, state: { waiting: { reason: 'ContainerCreating' } } }
}

function backingOff(status: ContainerStatus): ContainerStatus {
  const message = 'the container terminated and is restarted after a delay'
  return { ...status, lastState: status.state, state: { waiting: { reason: 'CrashLoopBackOff', message } } }
}

/** The status with its readiness, and the time of the next change. */
function settled(
  situation: ContainerSituation,
  status: ContainerStatus,
  sinceMs: number,
  nowMs: number,
): ContainerStep {
  const { plan, role } = situation
  const { running, waiting, terminated } = status.state
  if (running !== undefined) {
    const startedAtMs = sinceMs + plan.startedAfterMs
    const readyAtMs = sinceMs + plan.readyAfterMs
    const pending = [startedAtMs, readyAtMs, sinceMs + plan.runForMs].filter((atMs) => atMs > nowMs)
    const isReady = nowMs >= readyAtMs && role !== 'init' && role !== 'ephemeral'
    const wakeAtMs = Math.min(...pending, Number.POSITIVE_INFINITY)
    return { status: { ...status, started: nowMs >= startedAtMs, ready: isReady }, wakeAtMs, isDone: false }
  }
  const isDone = terminated !== undefined && !willRestart(situation, terminated.exitCode)
  const isBackingOff = waiting?.reason === 'CrashLoopBackOff'
  const wakeAtMs = isBackingOff ? restartAtMs(situation, status, sinceMs) : Number.POSITIVE_INFINITY
  // An init container that succeeded counts as ready.
  const isReady = role === 'init' && terminated?.exitCode === 0
  return { status: { ...status, started: false, ready: isReady }, wakeAtMs, isDone }
}

/** When the container entered its state: as tracked, otherwise as reported in the API, otherwise now. */
function enteredAtMs(status: ContainerStatus, times: ContainerTimes, nowMs: number): number {
  const state = `${stateName(status.state)}/${status.restartCount}`
  const known = times.get(status.name)
  if (known?.state === state) return known.sinceMs
  const { running } = status.state
  const reported = known === undefined ? parseTimestamp(running?.startedAt) : undefined
  const sinceMs = Math.min(nowMs, reported ?? nowMs)
  times.set(status.name, { state, sinceMs })
  return sinceMs
}

function stateName({ waiting, running }: ContainerState): string {
  return waiting !== undefined ? (waiting.reason ?? 'waiting') : running !== undefined ? 'running' : 'terminated'
}

/** 64 hexadecimal digits that look like a content digest and depend on `text` alone. */
function digest(text: string): string {
  return Array.from({ length: 8 }, (_, part) => fnv1a(`${part}${text}`).toString(16).padStart(8, '0')).join('')
}
