/**
 * The behaviour of simulated pods. By default every pod starts, becomes ready and, if its restart policy allows it, succeeds.\nThese annotations on the pod (or in its template) change that, also while it runs:
 *
 * | annotation | value |
 * | --- | --- |
 * | `simulator.reeve.dev/fail` | `ImagePullBackOff`, `ErrImagePull`, `InvalidImageName`, `CreateContainerConfigError`, `ContainerCreating` (never starts), `CrashLoopBackOff`, `OOMKilled`, `NotReady`, `Evicted` |
 * | `simulator.reeve.dev/fail-container` | the affected container or init container; the first container if absent |
 * | `simulator.reeve.dev/exit-code` | exit code of a container; `1,1,0` fails twice and then succeeds when restarted |
 * | `simulator.reeve.dev/run-for` | how long a container runs before it terminates, such as `30s`, or `forever` |
 * | `simulator.reeve.dev/start-delay` | from the binding of the pod to the start of its first container |
 * | `simulator.reeve.dev/ready-delay` | from a container's start to its readiness |
 * | `simulator.reeve.dev/stop-delay` | from the request to delete the pod to its termination, at most its grace period |
 * | `simulator.reeve.dev/logs` | the log of the container, one entry per line |
 *
 * Removing `fail` lets the pod recover. An image that does not exist fails without any annotation.
 */

import type { Labels } from '../kinds/meta.ts'
import type { Container, Pod, PodSpec } from '../kinds/pods.ts'
import { parseDuration } from '../time.ts'
import { type CommandEnd, simpleCommandEnd } from './simple-command.ts'

const PREFIX = 'simulator.reeve.dev/'

/** Times and images of all pods of a cluster without annotations. */
export interface KubeletSettings {
  /** From the binding of the pod to the start of its first container. 0 skips the state ContainerCreating. */
  readonly podStartDelayMs: number
  /** From a container's start to its readiness and `started`, if it has probes for them. */
  readonly podReadyDelayMs: number
  /** How long init containers, and containers of pods with another restart policy than `Always`, run. */
  readonly podRunDurationMs: number
  /** From the request to delete a pod to its termination, at most its grace period. */
  readonly podStopDelayMs: number
  /** Whether to honour `initialDelaySeconds` of probes. Charts often set half a minute. */
  readonly honourProbeDelays: boolean
  /** Whether an image can be pulled. */
  readonly imageExists: (image: string) => boolean
}

/** The planned behaviour of one container. */
export interface ContainerPlan {
  /** Set for a container that never runs. */
  readonly waiting?: { readonly reason: string; readonly message: string }
  /** Infinite for a server. */
  readonly runForMs: number
  readonly exit: (restartCount: number) => { readonly code: number; readonly reason: string }
  /** When it counts as started and as ready; infinite for never. */
  readonly startedAfterMs: number
  readonly readyAfterMs: number
}

/** The planned behaviour of a pod. */
export interface PodBehaviour {
  readonly startDelayMs: number
  readonly stopDelayMs: number
  /** It never leaves ContainerCreating. */
  readonly isStuck: boolean
  readonly isEvicted: boolean
  readonly planOf: (container: Container, role: ContainerRole) => ContainerPlan
}

/** The role of a container in its pod. */
export type ContainerRole = 'init' | 'sidecar' | 'main' | 'ephemeral'

const WAITING: Readonly<Record<string, string>> = {
  ImagePullBackOff: 'the image cannot be pulled',
  ErrImagePull: 'the image cannot be pulled',
  InvalidImageName: 'the name of the image is not valid',
  CreateContainerConfigError: 'the configuration of the container is incomplete',
}

/** Whether the name of an image indicates that it does not exist. */
export function imageSoundsMissing(image: string): boolean {
  const words =
    /(^|[/:.-])(does-not-exist|doesnotexist|nonexistent|non-existent|no-such-image|missing-image)($|[/:@.-])/i
  return words.test(image) || image.endsWith(':404')
}

/** The behaviour of the pod, from its annotations and the settings of the cluster. */
export function podBehaviour(pod: Pod, settings: KubeletSettings): PodBehaviour {
  const annotations = pod.metadata.annotations ?? {}
  const fail = annotations[`${PREFIX}fail`]
  const concerned = annotations[`${PREFIX}fail-container`] ?? pod.spec.containers[0]?.name
  return {
    startDelayMs: durationIn(annotations, 'start-delay') ?? settings.podStartDelayMs,
    stopDelayMs: durationIn(annotations, 'stop-delay') ?? settings.podStopDelayMs,
    isStuck: fail === 'ContainerCreating',
    isEvicted: fail === 'Evicted',
    planOf(container, role) {
      const failure = container.name === concerned ? fail : undefined
      const end = knownEnd(container, role, pod.spec)
      const plan = {
        exit: exitOf(annotations, container.name === concerned, failure, end?.exitCode ?? 0),
        runForMs: runFor(annotations, role, pod.spec, settings, end?.runForMs),
        ...readinessOf(container, annotations, settings),
      }
      const { image = '' } = container
      const reason = settings.imageExists(image) ? failure : (failure ?? 'ImagePullBackOff')
      const message = WAITING[reason ?? '']
      if (reason !== undefined && message !== undefined)
        return { ...plan, waiting: { reason, message: `${image}: ${message}` } }
      if (failure === 'NotReady') return { ...plan, readyAfterMs: Number.POSITIVE_INFINITY }
      return isCrash(failure) ? { ...plan, runForMs: 0 } : plan
    },
  }
}

function isCrash(failure: string | undefined): boolean {
  return failure === 'CrashLoopBackOff' || failure === 'OOMKilled'
}

/** Commands count in pods that end; a server that restarts always is simulated as running. */
function knownEnd(container: Container, role: ContainerRole, spec: PodSpec): CommandEnd | undefined {
  const isServer = (spec.restartPolicy ?? 'Always') === 'Always'
  return role === 'main' && !isServer ? simpleCommandEnd(container) : undefined
}

function exitOf(
  annotations: Labels,
  isConcerned: boolean,
  failure: string | undefined,
  usual: number,
): ContainerPlan['exit'] {
  if (failure === 'OOMKilled') return () => ({ code: 137, reason: 'OOMKilled' })
  const listed = isConcerned ? annotations[`${PREFIX}exit-code`] : undefined
  const codes = (listed ?? '').split(',').map((code) => Number.parseInt(code, 10))
  return (restartCount) => {
    const given = codes[Math.min(restartCount, codes.length - 1)] ?? Number.NaN
    const code = Number.isNaN(given) ? (isCrash(failure) ? 1 : usual) : given
    return { code, reason: code === 0 ? 'Completed' : 'Error' }
  }
}

function runFor(
  annotations: Labels,
  role: ContainerRole,
  spec: PodSpec,
  settings: KubeletSettings,
  known: number | undefined,
): number {
  if (role === 'sidecar' || role === 'ephemeral') return Number.POSITIVE_INFINITY
  const endsByItself = role === 'init' || (spec.restartPolicy ?? 'Always') !== 'Always'
  const usual = endsByItself ? known || settings.podRunDurationMs : Number.POSITIVE_INFINITY
  return role === 'init' ? usual : (durationIn(annotations, 'run-for') ?? usual)
}

function readinessOf(container: Container, annotations: Labels, settings: KubeletSettings) {
  const { startupProbe, readinessProbe } = container
  const given = durationIn(annotations, 'ready-delay')
  const delayOf = (probe: typeof startupProbe) => {
    if (probe === undefined) return 0
    const probeDelayMs = settings.honourProbeDelays ? (probe.initialDelaySeconds ?? 0) * 1000 : 0
    return settings.podReadyDelayMs + probeDelayMs
  }
  const startedAfterMs = delayOf(startupProbe)
  return { startedAfterMs, readyAfterMs: given ?? startedAfterMs + delayOf(readinessProbe) }
}

function durationIn(annotations: Labels, name: string): number | undefined {
  return parseDuration(annotations[`${PREFIX}${name}`])
}
