/** Creates Jobs on the schedules of CronJobs. */
import { timestamp } from '../clock.ts'
import type { Lookup } from './cluster-view.ts'
import { isTrue } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller } from './controller.ts'
import { CronSyntaxError, parseSchedule, type Schedule } from './cron-schedule.ts'
import { finishedAtMs } from './jobs.ts'
import { controllerOf, controllerReference, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import type { CronJob, CronJobStatus, Job } from './kinds/workloads.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { parseTimestamp } from './time.ts'

const SOURCE = 'cronjob-controller'
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

class CronJobReconciler {
  readonly #context: ControllerContext
  readonly #cronJobs: ResourceClient<CronJob>
  readonly #jobs: ResourceClient<Job>
  readonly #owned: Lookup<Job>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#cronJobs = new ResourceClient(context.api, 'cronjobs.batch')
    this.#jobs = new ResourceClient(context.api, 'jobs.batch')
    this.#owned = context.view.lookup<Job>('jobs.batch', (job) => {
      const owner = controllerOf(job)
      return owner?.kind === 'CronJob' ? [owner.uid] : []
    })
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const cronJob = this.#cronJobs.get(namespace, name)
    if (cronJob === undefined || isTerminating(cronJob)) return undefined
    await this.#deleteOldJobs(cronJob)
    const schedule = await this.#schedule(cronJob)
    if (schedule === undefined || cronJob.spec.suspend === true) {
      await this.#report(cronJob, undefined)
      return undefined
    }
    const nowMs = this.#context.clock.now()
    const lastMs = parseTimestamp(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp) ?? nowMs
    const dueMs = schedule.latest(lastMs, nowMs)
    const hasStarted = dueMs !== undefined && (await this.#run(cronJob, dueMs, nowMs))
    await this.#report(cronJob, hasStarted ? dueMs : undefined)
    const nextMs = schedule.next(dueMs ?? lastMs)
    return nextMs === undefined ? undefined : nextMs - nowMs
  }

  async #schedule(cronJob: CronJob): Promise<Schedule | undefined> {
    try {
      return parseSchedule(cronJob.spec.schedule, cronJob.spec.timeZone)
    } catch (error) {
      if (!(error instanceof CronSyntaxError)) throw error
      const { message } = error
      await this.#recordEvent(cronJob, 'UnparseableSchedule', message, 'Warning')
      return undefined
    }
  }

  /** Starts the run that was due at `dueMs` unless it is too late or another one is still active. */
  async #run(cronJob: CronJob, dueMs: number, nowMs: number): Promise<boolean> {
    const { startingDeadlineSeconds = Number.POSITIVE_INFINITY, concurrencyPolicy } = cronJob.spec
    if (nowMs - dueMs > startingDeadlineSeconds * 1000) return false
    const active = this.#activeJobs(cronJob)
    if (concurrencyPolicy === 'Forbid' && active.length > 0) {
      await this.#recordEvent(cronJob, 'JobAlreadyActive', 'the previous run is still active: not starting another one')
      return false
    }
    if (concurrencyPolicy === 'Replace') {
      // Deleting a Job orphans its pods by default.
      for (const job of active) await this.#jobs.delete(job, { propagationPolicy: 'Background' })
    }
    await this.#create(cronJob, dueMs)
    return true
  }

  async #create(cronJob: CronJob, dueMs: number): Promise<void> {
    const { jobTemplate } = cronJob.spec
    // The name guarantees that one run has one Job, even if the process crashes before the start is recorded.
    const name = `${cronJob.metadata.name}-${Math.floor(dueMs / 60_000)}`
    try {
      await this.#jobs.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name,
          namespace: namespaceOf(cronJob),
          ...(jobTemplate.metadata?.labels === undefined ? {} : { labels: jobTemplate.metadata.labels }),
          annotations: { ...jobTemplate.metadata?.annotations, [SCHEDULED_AT]: timestamp(dueMs) },
          ownerReferences: [controllerReference(cronJob)],
        },
        spec: jobTemplate.spec,
      })
      await this.#recordEvent(cronJob, 'SuccessfulCreate', `created Job ${name}`)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }

  #activeJobs(cronJob: CronJob): Job[] {
    const jobs = this.#owned.get(cronJob.metadata.uid)
    return jobs.filter((job) => finishedAtMs(job) === undefined && !isTerminating(job))
  }

  async #report(cronJob: CronJob, startedMs: number | undefined): Promise<void> {
    const live = this.#cronJobs.get(namespaceOf(cronJob), cronJob.metadata.name)
    if (live === undefined || live.metadata.uid !== cronJob.metadata.uid) return
    const active = this.#activeJobs(live).map(({ apiVersion, kind, metadata }) => {
      const { name, namespace, uid, resourceVersion } = metadata
      const noted = live.status?.active?.find((reference) => reference.uid === uid)
      // The recorded version is the first one: following every change of the Job would cost a write each.
      return (
        noted ?? { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion }
      )
    })
    const successes = this.#owned.get(live.metadata.uid).flatMap((job) => job.status?.completionTime ?? [])
    const lastSuccessfulTime = [live.status?.lastSuccessfulTime ?? '', ...successes].sort().at(-1) ?? ''
    const lastScheduleTime = startedMs === undefined ? live.status?.lastScheduleTime : timestamp(startedMs)
    const status: CronJobStatus = {
      ...(active.length === 0 ? {} : { active }),
      ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
      ...(lastSuccessfulTime === '' ? {} : { lastSuccessfulTime }),
    }
    await this.#cronJobs.updateStatus(live, status)
  }

  async #deleteOldJobs(cronJob: CronJob): Promise<void> {
    const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec
    const finished = this.#owned.get(cronJob.metadata.uid).filter((job) => finishedAtMs(job) !== undefined)
    const [succeeded, failed] = [true, false].map((wanted) =>
      finished.filter((job) => isTrue(job.status?.conditions, 'Complete') === wanted && !isTerminating(job)),
    )
    await this.#keepNewest(succeeded ?? [], successfulJobsHistoryLimit)
    await this.#keepNewest(failed ?? [], failedJobsHistoryLimit)
  }

  async #keepNewest(jobs: readonly Job[], limit: number): Promise<void> {
    const oldestFirst = [...jobs].sort((a, b) => ((a.status?.startTime ?? '') < (b.status?.startTime ?? '') ? -1 : 1))
    for (const job of oldestFirst.slice(0, Math.max(0, jobs.length - limit))) {
      await this.#jobs.delete(job, { propagationPolicy: 'Background' })
    }
  }

  #recordEvent(
    cronJob: CronJob,
    reason: string,
    message: string,
    type: 'Normal' | 'Warning' = 'Normal',
  ): Promise<void> {
    return this.#context.events.record(cronJob, { type, reason, message, source: SOURCE })
  }
}

/** The controller of `cronjobs.batch`. */
export function createCronJobController(context: ControllerContext): SimulatorController {
  const reconciler = new CronJobReconciler(context)
  return new Controller(context, {
    name: 'cron-jobs',
    watches: {
      'cronjobs.batch': ({ type, object }, enqueue) => {
        if (type !== 'DELETED') enqueue(keyOf(asObject(object)))
      },
      'jobs.batch': ({ object }, enqueue) => {
        const job = asObject<Job>(object)
        const owner = controllerOf(job)
        if (owner?.kind === 'CronJob') enqueue(`${namespaceOf(job)}/${owner.name}`)
      },
    },
    reconcile: (key) => reconciler.reconcile(key),
  })
}
