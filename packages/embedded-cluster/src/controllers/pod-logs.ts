/** The output of `kubectl logs` for simulated containers. */
import type { ClusterApi } from '../api/cluster-api.ts'
import type { PodLogs } from '../rest/server-context.ts'
import { namespaceOf } from './kinds/meta.ts'
import type { ContainerState, ContainerStatus, Pod } from './kinds/pods.ts'
import { asObject } from './resource-client.ts'

const LINES = 'simulator.reeve.dev/logs'

/** A line and its time. */
export interface LogLine {
  readonly timeMs: number
  readonly text: string
}

/**
 * The log of a container, or of its previous run: the annotation `simulator.reeve.dev/logs`, otherwise a line for its
 * start, and one for its termination if it failed.
 *
 * @example
 * containerLog(pod, 'main').map(({ text }) => text) // ['main: started from web:1']
 */
function containerLog(pod: Pod, container: string, previous = false): LogLine[] {
  const status = statusOf(pod, container)
  const state = previous ? status?.lastState : status?.state
  if (status === undefined || state === undefined) return []
  const { startedAt, end } = runOf(state, status)
  if (startedAt === undefined) return []
  const timeMs = Date.parse(startedAt)
  const annotation = pod.metadata.annotations?.[LINES]
  const lines = annotation?.split('\n').filter((line) => line !== '') ?? [`${container}: started from ${status.image}`]
  const failure = end === undefined || end.exitCode === 0 ? [] : [`${container}: exit code ${end.exitCode}`]
  const endMs = Date.parse(end?.finishedAt ?? startedAt)
  return [...lines.map((text) => ({ timeMs, text })), ...failure.map((text) => ({ timeMs: endMs, text }))]
}

/** A container that waits for its restart still returns its last run. */
function runOf(state: ContainerState, { lastState }: ContainerStatus) {
  const end = state.terminated ?? (state.waiting === undefined ? undefined : lastState.terminated)
  return { startedAt: state.running?.startedAt ?? end?.startedAt, end }
}

function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {}
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  return all.find(({ name }) => name === container)
}

/** The logs of the simulated pods of `api`, for the API server's `log` subresource. */
export function createPodLogs(api: ClusterApi): PodLogs {
  return async function* (object, options) {
    const { container, follow, previous, tailLines, limitBytes, timestamps, sinceTime, signal } = options
    const written = (of: Pod) =>
      containerLog(of, container, previous).filter(({ timeMs }) => timeMs >= (sinceTime ?? 0))
    const shown = written(asObject(object))
    let leftBytes = limitBytes ?? Number.POSITIVE_INFINITY
    const format = ({ timeMs, text }: LogLine) => `${timestamps ? `${new Date(timeMs).toISOString()} ` : ''}${text}\n`
    for (const line of tailLines === undefined ? shown : shown.slice(Math.max(0, shown.length - tailLines))) {
      const bytes = Buffer.from(format(line)).subarray(0, leftBytes)
      leftBytes -= bytes.length
      if (bytes.length > 0) yield bytes.toString()
    }
    if (!follow || previous) return
    let count = shown.length
    for await (const pod of changes(api, asObject(object), signal)) {
      const lines = written(pod)
      // A restarted container starts a new log.
      if (lines.length < count) count = 0
      for (const line of lines.slice(count)) yield format(line)
      count = lines.length
      if (hasEnded(pod, container)) return
    }
  }
}

function hasEnded(pod: Pod, container: string): boolean {
  const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  return isOver || (statusOf(pod, container)?.state.terminated !== undefined && pod.spec.restartPolicy === 'Never')
}

/** The pod's later states, until it is deleted or the reader disconnects. */
async function* changes(api: ClusterApi, pod: Pod, signal: AbortSignal): AsyncGenerator<Pod> {
  let wake: () => void = () => undefined
  let isGone = false
  const end = () => {
    isGone = true
    wake()
  }
  const unsubscribe = api.subscribe(({ type, resource, object }) => {
    if (resource !== 'pods' || asObject(object).metadata.uid !== pod.metadata.uid) return
    if (type === 'DELETED') end()
    else wake()
  })
  signal.addEventListener('abort', end, { once: true })
  try {
    while (!isGone && !signal.aborted) {
      // Subscribed before reading, so that a change while the reader is busy is not missed.
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const live = api.get('pods', namespaceOf(pod), pod.metadata.name)
      if (live === undefined) return
      yield asObject<Pod>(live)
      await changed
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', end)
  }
}
