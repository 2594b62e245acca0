/** Runs pods to completion. */

import { timestamp } from '../clock.ts'
import { claim } from './claims.ts'
import type { Lookup } from './cluster-view.ts'
import { findCondition, isTrue, positive, withCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { type Account, accountStatus, updateAccount } from './jobs/accounting.ts'
import { isTracked, jobPod, TRACKING_FINALIZER } from './jobs/job-pods.ts'
import { hasSucceeded } from './jobs/pod-failures.ts'
import { activePods, awaitReplacement, planFor, type Verdict, verdictOn } from './jobs/verdict.ts'
import { type Condition, controllerOf, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { isReady, type Pod } from './kinds/pods.ts'
import type { Job, JobStatus } from './kinds/workloads.ts'
import { failureMessage, slowStart } from './pod-creation.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { SelectorIndex } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { earliest, parseTimestamp } from './time.ts'

const SOURCE = 'job-controller'
const OWN_NAME = 'kubernetes.io/job-controller'

class JobReconciler {
  readonly #context: ControllerContext
  readonly #jobs: ResourceClient<Job>
  readonly #pods: ResourceClient<Pod>
  /** Pods that wait to be counted, by the key of their Job. */
  readonly #tracked: Lookup<Pod>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#tracked = context.view.lookup<Pod>('pods', (pod) => {
      const owner = isTracked(pod) ? controllerOf(pod) : undefined
      return owner?.kind === 'Job' ? [`${namespaceOf(pod)}/${owner.name}`] : []
    })
    this.#jobs = new ResourceClient(context.api, 'jobs.batch')
    this.#pods = new ResourceClient(context.api, 'pods')
  }

  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const job = this.#jobs.get(namespace, name)
    // Pods of a deleted Job are not counted, even if another Job has its name now.
    await this.#releasePods(this.#tracked.get(key).filter((pod) => controllerOf(pod)?.uid !== job?.metadata.uid))
    if (job === undefined || isManagedElsewhere(job)) return undefined
    if (isTerminating(job)) {
      await this.#releasePods(this.#podsOf(job.metadata.uid))
      return undefined
    }
    return finishedAtMs(job) === undefined ? this.#advance(job, signal) : this.#afterwards(job)
  }

  #podsOf(uid: string): Pod[] {
    return this.#context.pods.controlledBy(uid)
  }

  /** Adopts and releases pods; a released pod is no longer counted, and an adopted one is. */
  async #claimPods(job: Job): Promise<void> {
    const { selector } = job.spec
    if (selector === undefined) return
    const { uid } = job.metadata
    const owned = this.#podsOf(uid)
    const orphans = this.#context.pods.orphansIn(namespaceOf(job))
    await claim({ ...job, spec: { selector } }, this.#pods, { owned, orphans })
    const live = this.#podsOf(uid)
    const isIn = (pods: readonly Pod[], pod: Pod) => pods.some(({ metadata }) => metadata.uid === pod.metadata.uid)
    await this.#releasePods(owned.filter((pod) => !isIn(live, pod)))
    for (const pod of live.filter((found) => !isIn(owned, found) && !isTracked(found))) {
      const finalizers = [...(pod.metadata.finalizers ?? []), TRACKING_FINALIZER]
      await this.#pods.update({ ...pod, metadata: { ...pod.metadata, finalizers } })
    }
  }

  async #advance(job: Job, signal: AbortSignal): Promise<number | undefined> {
    await this.#claimPods(job)
    const nowMs = this.#context.clock.now()
    const pods = this.#podsOf(job.metadata.uid)
    const account = updateAccount(job, pods)
    const isSuspended = job.spec.suspend === true
    const verdict = isSuspended ? undefined : verdictOn(job, account, pods, nowMs)
    const status = this.#status(job, account, pods, verdict)
    await this.#jobs.updateStatus(job, status)
    // The counts are stored: the counted pods may be released.
    const done = new Set([...account.uncounted.succeeded, ...account.uncounted.failed, ...account.ignored])
    if (verdict === undefined) for (const uid of awaitReplacement(job, account, pods)) done.delete(uid)
    await this.#releasePods(pods.filter((pod) => done.has(pod.metadata.uid) || (isSuspended && isTerminating(pod))))
    if (verdict !== undefined || isSuspended) {
      await slowStart(activePods(pods), (pod) => this.#pods.delete(pod), signal)
      return undefined
    }
    const plan = planFor(job, account, pods, nowMs)
    await slowStart(plan.remove, (pod) => this.#pods.delete(pod), signal)
    const created = await slowStart(
      plan.create,
      ({ index, failures }) => this.#pods.create(jobPod(job, index, failures)),
      signal,
    )
    await this.#recordEvents(job, created.done, created.error)
    if (created.error !== undefined) throw created.error
    return earliest([plan.waitMs > 0 ? plan.waitMs : undefined, deadlineInMs(job, status, nowMs)])
  }

  #status(job: Job, account: Account, pods: readonly Pod[], verdict: Verdict | undefined): JobStatus {
    const now = timestamp(this.#context.clock.now())
    const isSuspended = job.spec.suspend === true
    const active = activePods(pods)
    const terminating = pods.filter((pod) => isTerminating(pod) && !hasSucceeded(pod) && pod.status?.phase !== 'Failed')
    // The Job ends when its last pod has terminated and every pod is counted.
    const isOver =
      verdict !== undefined &&
      active.length + terminating.length + account.uncounted.succeeded.length + account.uncounted.failed.length === 0
    const conditions = this.#conditions(job, verdict, isOver, now)
    const startTime = isSuspended ? undefined : (job.status?.startTime ?? now)
    return {
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(startTime === undefined ? {} : { startTime }),
      ...(isOver && verdict.hasSucceeded ? { completionTime: now } : {}),
      ...positive('active', active.length),
      ready: active.filter(isReady).length,
      terminating: terminating.length,
      ...accountStatus(job, account),
    }
  }

  #conditions(job: Job, verdict: Verdict | undefined, isOver: boolean, now: string): readonly Condition[] {
    let conditions = job.status?.conditions ?? []
    const wasSuspended = findCondition(conditions, 'Suspended')
    if (job.spec.suspend === true) {
      conditions = state(
        conditions,
        'Suspended',
        'True',
        { reason: 'JobSuspended', message: 'the Job is suspended' },
        now,
      )
    } else if (wasSuspended !== undefined) {
      conditions = state(conditions, 'Suspended', 'False', { reason: 'JobResumed', message: 'the Job is resumed' }, now)
    }
    if (verdict === undefined) return conditions
    const { hasSucceeded: isSuccess, reason, message } = verdict
    conditions = state(conditions, isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget', 'True', { reason, message }, now)
    if (!isOver) return conditions
    return state(conditions, isSuccess ? 'Complete' : 'Failed', 'True', { reason, message }, now)
  }

  /** A finished Job keeps its pods until its time to live expires. */
  async #afterwards(job: Job): Promise<number | undefined> {
    await this.#releasePods(this.#podsOf(job.metadata.uid))
    const { ttlSecondsAfterFinished } = job.spec
    const endedMs = finishedAtMs(job)
    if (ttlSecondsAfterFinished === undefined || endedMs === undefined) return undefined
    const leftMs = endedMs + ttlSecondsAfterFinished * 1000 - this.#context.clock.now()
    if (leftMs > 0) return leftMs
    await this.#jobs.delete(job, { propagationPolicy: 'Foreground' })
    return undefined
  }

  /** Removes our finalizer from the pods. */
  async #releasePods(pods: readonly Pod[]): Promise<void> {
    for (const pod of pods.filter(isTracked)) {
      const live = this.#pods.get(namespaceOf(pod), pod.metadata.name)
      if (live === undefined || live.metadata.uid !== pod.metadata.uid) continue
      const finalizers = (live.metadata.finalizers ?? []).filter((finalizer) => finalizer !== TRACKING_FINALIZER)
      await this.#pods.update({ ...live, metadata: { ...live.metadata, finalizers } })
    }
  }

  async #recordEvents(job: Job, created: number, error: unknown): Promise<void> {
    const { events } = this.#context
    if (created > 0) {
      await events.record(job, { reason: 'SuccessfulCreate', message: `created ${created} pods`, source: SOURCE })
    }
    const message = failureMessage(error)
    if (message !== undefined) {
      await events.record(job, { type: 'Warning', reason: 'FailedCreate', message, source: SOURCE })
    }
  }
}

/** Whether another controller manages the Job. */
function isManagedElsewhere(job: Job): boolean {
  return (job.spec.managedBy ?? OWN_NAME) !== OWN_NAME
}

function state(
  conditions: readonly Condition[],
  type: string,
  status: 'True' | 'False',
  why: { readonly reason: string; readonly message: string },
  now: string,
): readonly Condition[] {
  const existing = findCondition(conditions, type)
  const lastProbeTime = (existing?.status === status ? existing.lastProbeTime : undefined) ?? now
  return withCondition(conditions, { type, status, ...why, lastProbeTime }, now)
}

/** When the Job finished; `undefined` while it is active. */
export function finishedAtMs(job: Job): number | undefined {
  const { conditions } = job.status ?? {}
  const end = isTrue(conditions, 'Complete') ? 'Complete' : isTrue(conditions, 'Failed') ? 'Failed' : undefined
  return end === undefined ? undefined : parseTimestamp(findCondition(conditions, end)?.lastTransitionTime)
}

function deadlineInMs(job: Job, { startTime }: JobStatus, nowMs: number): number | undefined {
  const startedMs = parseTimestamp(startTime)
  const { activeDeadlineSeconds } = job.spec
  if (activeDeadlineSeconds === undefined || startedMs === undefined) return undefined
  return Math.max(0, startedMs + activeDeadlineSeconds * 1000 - nowMs)
}

/** The controller of `jobs.batch`. */
export function createJobController(context: ControllerContext): SimulatorController {
  const reconciler = new JobReconciler(context)
  const selectors = new SelectorIndex()
  return new Controller(context, {
    name: 'jobs',
    gathersEvents: true,
    watches: {
      'jobs.batch': ({ type, object }, enqueue) => {
        const job = asObject<Job>(object)
        selectors.set(namespaceOf(job), keyOf(job), type === 'DELETED' ? undefined : job.spec.selector)
        enqueue(keyOf(job))
      },
      pods: ({ type, object, previous }, enqueue) => {
        const pod = asObject<Pod>(object)
        const enqueueOwner = (of: Pod) => {
          const owner = controllerOf(of)
          if (owner?.kind === 'Job') enqueue(`${namespaceOf(of)}/${owner.name}`)
          return owner !== undefined
        }
        if (previous !== undefined) enqueueOwner(asObject<Pod>(previous))
        if (!enqueueOwner(pod) && type !== 'DELETED') {
          for (const key of selectors.matching(namespaceOf(pod), pod.metadata.labels)) enqueue(key)
        }
      },
    },
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
  })
}
