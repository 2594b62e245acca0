/** Makes a Job whenever a CronJob's time has come. */
import type { Lookup } from './cluster-view.ts'
import { isTrue } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller } from './controller.ts'
import { CronSchedule, CronSyntaxError } from './cron-schedule.ts'
import { finishedAtMs } from './jobs.ts'
import { controllerOf, controllerReference, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import type { CronJob, CronJobStatus, Job } from './kinds/workloads.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { parseTimestamp, timestamp } from './timestamp.ts'

const SOURCE = 'cronjob-controller'
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
/** Missed runs to step through one by one; of more than that only the latest matters, and it is found by leaping. */
const MOST_STEPS = 100

/** The latest scheduled time after `afterMs` and not after `nowMs`. */
export function latestRunMs(schedule: CronSchedule, afterMs: number, nowMs: number): number | undefined {
  let latest: number | undefined
  let fromMs = afterMs
  for (let steps = 1; ; steps++) {
    const nextMs = schedule.next(fromMs)
    if (nextMs === undefined || nextMs > nowMs) return latest
    const strideMs = nextMs - (latest ?? fromMs)
    latest = nextMs
    // Leap to a few strides before now: all runs in between are missed for good.
    const leapMs = nowMs - 3 * strideMs
    fromMs = steps % MOST_STEPS === 0 && leapMs > nextMs ? leapMs : nextMs
  }
}

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
    await this.#forgetOldJobs(cronJob)
    const schedule = await this.#schedule(cronJob)
    const nowMs = this.#context.clock.now()
    const started =
      schedule === undefined || cronJob.spec.suspend ? undefined : await this.#run(cronJob, schedule, nowMs)
    await this.#report(cronJob, started)
    if (schedule === undefined || cronJob.spec.suspend === true) return undefined
    const nextMs = schedule.next(nowMs)
    return nextMs === undefined ? undefined : nextMs - nowMs
  }

  async #schedule(cronJob: CronJob): Promise<CronSchedule | undefined> {
    try {
      return new CronSchedule(cronJob.spec.schedule, cronJob.spec.timeZone)
    } catch (error) {
      if (!(error instanceof CronSyntaxError)) throw error
      const { message } = error
      await this.#tell(cronJob, 'UnparseableSchedule', message, 'Warning')
      return undefined
    }
  }

  /** Starts the run that is due, if one is; answers its scheduled time. */
  async #run(cronJob: CronJob, schedule: CronSchedule, nowMs: number): Promise<number | undefined> {
    const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec
    const lastMs = parseTimestamp(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp) ?? nowMs
    const deadlineMs = startingDeadlineSeconds === undefined ? 0 : nowMs - startingDeadlineSeconds * 1000
    const dueMs = latestRunMs(schedule, Math.max(lastMs, deadlineMs), nowMs)
    if (dueMs === undefined) return undefined
    const active = this.#activeJobs(cronJob)
    if (concurrencyPolicy === 'Forbid' && active.length > 0) {
      await this.#tell(cronJob, 'JobAlreadyActive', 'the run before has not ended: not starting another one')
      return undefined
    }
    if (concurrencyPolicy === 'Replace') {
      // Jobs leave their pods behind unless told otherwise.
      for (const job of active) await this.#jobs.delete(job, { propagationPolicy: 'Background' })
    }
    await this.#create(cronJob, dueMs)
    return dueMs
  }

  async #create(cronJob: CronJob, dueMs: number): Promise<void> {
    const { jobTemplate } = cronJob.spec
    // The name makes sure that one run has one Job, even if we crash before we note that it was started.
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
      await this.#tell(cronJob, 'SuccessfulCreate', `created Job ${name}`)
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
      // The version is the one it was first seen in: following every change of the Job would be all writes.
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

  async #forgetOldJobs(cronJob: CronJob): Promise<void> {
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

  #tell(cronJob: CronJob, reason: string, message: string, type: 'Normal' | 'Warning' = 'Normal'): Promise<void> {
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
