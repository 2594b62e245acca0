/** Columns of pods: the status is derived from phase, conditions and container states. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { since } from './age.ts'
import { ageColumn, type Column, column, conditionStatus, nameColumn, objectsAt, textCell, wide } from './column.ts'

interface PodSummary {
  readonly reason: string
  readonly ready: number
  readonly total: number
  readonly restarts: number
  readonly lastRestart: string | undefined
}

/** The restarts that a container status adds to those of its pod. */
class Restarts {
  count = 0
  last: string | undefined

  add(status: JsonObject): void {
    this.count += typeof status.restartCount === 'number' ? status.restartCount : 0
    const finished = stringAt(objectAt(objectAt(status, 'lastState'), 'terminated'), 'finishedAt')
    if (finished !== undefined && (this.last === undefined || finished > this.last)) this.last = finished
  }
}

function terminationReason(terminated: JsonObject): string {
  const reason = stringAt(terminated, 'reason') ?? ''
  if (reason !== '') return reason
  const { signal } = terminated
  if (typeof signal === 'number' && signal !== 0) return `Signal:${signal}`
  return `ExitCode:${typeof terminated.exitCode === 'number' ? terminated.exitCode : 0}`
}

function isSidecar(pod: JsonObject, name: string | undefined): boolean {
  return objectsAt(pod, 'spec.initContainers').some(
    (container) => container.name === name && container.restartPolicy === 'Always',
  )
}

/** Why a pod is still initializing; `undefined` when it is not. */
function initialisation(pod: JsonObject, restarts: Restarts, sidecars: Restarts): { reason?: string; ready: number } {
  let ready = 0
  const statuses = objectsAt(pod, 'status.initContainerStatuses')
  for (const [index, status] of statuses.entries()) {
    restarts.add(status)
    const runsAlong = isSidecar(pod, stringAt(status, 'name'))
    if (runsAlong) sidecars.add(status)
    const state = objectAt(status, 'state')
    const terminated = isJsonObject(state.terminated) ? state.terminated : undefined
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue
    if (runsAlong && status.started === true) {
      if (status.ready === true) ready += 1
      continue
    }
    if (terminated !== undefined) return { reason: `Init:${terminationReason(terminated)}`, ready }
    const waiting = stringAt(objectAt(state, 'waiting'), 'reason') ?? ''
    if (waiting !== '' && waiting !== 'PodInitializing') return { reason: `Init:${waiting}`, ready }
    return { reason: `Init:${index}/${objectsAt(pod, 'spec.initContainers').length}`, ready }
  }
  return { ready }
}

function summarise(pod: JsonObject): PodSummary {
  const status = objectAt(pod, 'status')
  const phase = stringAt(status, 'phase') ?? ''
  let reason = stringAt(status, 'reason') ?? ''
  if (reason === '') reason = phase
  const gated = objectsAt(pod, 'status.conditions').some(
    (condition) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated',
  )
  if (gated) reason = 'SchedulingGated'
  let restarts = new Restarts()
  const sidecars = new Restarts()
  const initial = initialisation(pod, restarts, sidecars)
  let { ready } = initial
  if (initial.reason !== undefined) reason = initial.reason
  if (initial.reason === undefined || conditionStatus(pod, 'Initialized') === 'True') {
    restarts = sidecars
    let isRunning = false
    let failure: string | undefined
    for (const container of objectsAt(pod, 'status.containerStatuses').toReversed()) {
      restarts.add(container)
      const state = objectAt(container, 'state')
      const waiting = stringAt(objectAt(state, 'waiting'), 'reason') ?? ''
      if (waiting !== '') reason = waiting
      else if (isJsonObject(state.terminated)) {
        reason = terminationReason(state.terminated)
        if ((state.terminated.exitCode ?? 0) !== 0) failure = reason
      } else if (container.ready === true && state.running !== undefined) {
        isRunning = true
        ready += 1
      }
    }
    if (reason === 'Completed') {
      if (isRunning && conditionStatus(pod, 'Ready') === 'True') reason = 'Running'
      else if (failure !== undefined) reason = failure
      else if (isRunning) reason = 'NotReady'
    }
  }
  const isDeleted = objectAt(pod, 'metadata').deletionTimestamp !== undefined
  if (isDeleted && status.reason === 'NodeLost') reason = 'Unknown'
  else if (isDeleted && phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating'
  const along = objectsAt(pod, 'spec.initContainers').filter((container) => container.restartPolicy === 'Always')
  const total = objectsAt(pod, 'spec.containers').length + along.length
  return { reason, ready, total, restarts: restarts.count, lastRestart: restarts.last }
}

function readinessGates(pod: JsonObject): string {
  const gates = objectsAt(pod, 'spec.readinessGates')
  if (gates.length === 0) return '<none>'
  const met = gates.filter((gate) => conditionStatus(pod, String(gate.conditionType)) === 'True')
  return `${met.length}/${gates.length}`
}

/** Columns of pods. */
export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', (pod) => {
    const { ready, total } = summarise(pod)
    return `${ready}/${total}`
  }),
  column('Status', (pod) => summarise(pod).reason),
  column('Restarts', (pod, now) => {
    const { restarts, lastRestart } = summarise(pod)
    return restarts > 0 && lastRestart !== undefined ? `${restarts} (${since(lastRestart, now)} ago)` : String(restarts)
  }),
  ageColumn,
  wide('IP', textCell('status.podIP', '<none>')),
  wide('Node', textCell('spec.nodeName', '<none>')),
  wide('Nominated Node', textCell('status.nominatedNodeName', '<none>')),
  wide('Readiness Gates', readinessGates),
]
