/**
 * What Helm's commands do to records and objects, and in which order: a crash between two steps leaves what a crash of
 * the real one leaves. `test/helm-agreement.test.ts` compares it with the real one.
 */
import {
  isPending,
  manifestObjects,
  OperationInProgressError,
  type Release,
  ReleaseExistsError,
  type ReleaseKey,
  ReleaseNotFoundError,
} from '@reeve/helm'
import type { UnknownObject } from '@reeve/kube'
import type { Values } from '../src/decode-configuration.ts'
import type { HelmProcess } from './helm-process.ts'
import type { ReleaseStore } from './release-store.ts'
import { renderSample, SAMPLE_CHART } from './sample-chart.ts'

/** Revisions that are kept. */
const HISTORY_MAX = 10

/** What a command works with. */
export interface HelmCommand {
  readonly process: HelmProcess
  readonly releases: ReleaseStore
  readonly release: ReleaseKey
}

/** What is to be deployed. */
export interface Deployment {
  readonly values: Values
  readonly labels: Readonly<Record<string, string>>
  readonly description: string
}

/** What would be made; nothing is. */
export async function render({ process, release }: HelmCommand, { values, ...marks }: Deployment): Promise<Release> {
  return process.step('render', async () => ({
    ...release,
    ...marks,
    revision: 1,
    status: 'pending-install',
    chart: SAMPLE_CHART,
    values,
    manifest: write(renderSample(release, values)),
    hooks: [],
  }))
}

/** Pending record, objects, deployed record. */
export async function install(command: HelmCommand, { values, labels, description }: Deployment): Promise<Release> {
  const { releases, release } = command
  if ((await releases.history(release)).length > 0) throw new ReleaseExistsError(`${release.name} is in use`)
  const objects = renderSample(release, values)
  const now = timeOf(command)
  const pending: Release = {
    ...release,
    revision: 1,
    status: 'pending-install',
    chart: SAMPLE_CHART,
    values,
    labels,
    manifest: write(objects),
    hooks: [],
    description: 'Initial install underway',
    firstDeployed: now,
    lastDeployed: now,
  }
  await create(command, pending)
  await orFail(command, pending, 'Release', () => applyAll(command, objects, []))
  return conclude(command, pending, description)
}

/** Pending record, objects, the revision before superseded, deployed record. */
export async function upgrade(command: HelmCommand, { values, labels, description }: Deployment): Promise<Release> {
  const { releases, release } = command
  const history = await releases.history(release)
  const newest = history.at(-1)
  if (newest === undefined) throw new ReleaseNotFoundError(`${release.name} has no deployed releases`)
  if (isPending(newest.status)) throw new OperationInProgressError(`${release.name} is ${newest.status}`)
  const current = history.findLast(({ status }) => status === 'deployed') ?? newest
  if (!['deployed', 'failed', 'superseded'].includes(current.status)) {
    throw new ReleaseNotFoundError(`${release.name} has no deployed releases`)
  }
  const objects = renderSample(release, values)
  const pending: Release = {
    ...newest,
    revision: newest.revision + 1,
    status: 'pending-upgrade',
    values,
    labels: { ...newest.labels, ...labels },
    manifest: write(objects),
    description: 'Preparing upgrade',
    lastDeployed: timeOf(command),
  }
  await makeRoom(command, history)
  await create(command, pending)
  await orFail(command, pending, 'Upgrade', () => applyAll(command, objects, manifestObjects(current.manifest)))
  await update(command, { ...current, status: 'superseded' })
  return conclude(command, pending, description)
}

/** The same with an older revision, regardless of the state of the newest one. */
export async function rollback(command: HelmCommand, revision: number): Promise<Release> {
  const { releases, release } = command
  const history = await releases.history(release)
  const newest = history.at(-1)
  const target = history.find((candidate) => candidate.revision === revision)
  if (newest === undefined || target === undefined) {
    throw new ReleaseNotFoundError(`${release.name} has no revision ${revision}`)
  }
  const pending: Release = {
    ...target,
    revision: newest.revision + 1,
    status: 'pending-rollback',
    description: `Rollback to ${revision}`,
    lastDeployed: timeOf(command),
  }
  await makeRoom(command, history)
  await create(command, pending)
  const removed = manifestObjects(newest.manifest)
  await orFail(command, pending, 'Rollback', () => applyAll(command, manifestObjects(target.manifest), removed))
  for (const old of history.filter(({ status }) => status === 'deployed')) {
    await update(command, { ...old, status: 'superseded' })
  }
  return conclude(command, pending, pending.description)
}

/**
 * The newest revision marked, its objects deleted, then one record after the other, unless they are kept. `false` when there
 * was no release.
 */
export async function uninstall(command: HelmCommand, keepHistory = false): Promise<boolean> {
  const { releases, release, process } = command
  const history = await releases.history(release)
  const newest = history.at(-1)
  if (newest === undefined) return false
  if (newest.status !== 'uninstalled') {
    await update(command, { ...newest, status: 'uninstalling' })
    for (const object of manifestObjects(newest.manifest).toReversed()) {
      await process.step(`delete ${nameOf(object)}`, () => releases.remove(release, object))
    }
  }
  if (keepHistory) {
    await update(command, { ...newest, status: 'uninstalled' })
    return true
  }
  for (const old of history) await process.step(`purge revision ${old.revision}`, () => releases.purge(old))
  return true
}

function timeOf({ process }: HelmCommand): string {
  return new Date(process.clock.now()).toISOString()
}

/** JSON is YAML. */
function write(objects: readonly UnknownObject[]): string {
  return objects.map((object) => JSON.stringify(object)).join('\n---\n')
}

function nameOf({ kind, metadata }: UnknownObject): string {
  return `${kind} ${metadata.name}`
}

async function create({ process, releases }: HelmCommand, release: Release): Promise<void> {
  await process.step(`record revision ${release.revision} as ${release.status}`, () =>
    releases.record(release, 'create'),
  )
}

async function update({ process, releases }: HelmCommand, release: Release): Promise<void> {
  await process.step(`record revision ${release.revision} as ${release.status}`, () =>
    releases.record(release, 'update'),
  )
}

async function conclude(command: HelmCommand, pending: Release, description: string): Promise<Release> {
  const deployed: Release = { ...pending, status: 'deployed', description }
  await update(command, deployed)
  return deployed
}

/** Of the oldest revisions the one that is deployed is kept, too. */
async function makeRoom({ process, releases }: HelmCommand, history: readonly Release[]): Promise<void> {
  const spare = history.filter(({ status }) => status !== 'deployed')
  for (const old of spare.slice(0, Math.max(0, history.length - HISTORY_MAX + 1))) {
    await process.step(`purge revision ${old.revision}`, () => releases.purge(old))
  }
}

async function applyAll(
  { process, releases, release }: HelmCommand,
  objects: readonly UnknownObject[],
  before: readonly UnknownObject[],
): Promise<void> {
  for (const object of objects) {
    await process.step(`apply ${nameOf(object)}`, () => releases.apply(release, object))
  }
  const kept = new Set(objects.map(nameOf))
  for (const object of before.filter((old) => !kept.has(nameOf(old)))) {
    await process.step(`delete ${nameOf(object)}`, () => releases.remove(release, object))
  }
}

/** A failure is recorded. So is an install or upgrade that is stopped by a signal; a rollback just ends. */
async function orFail(
  { process, releases }: HelmCommand,
  pending: Release,
  what: 'Release' | 'Upgrade' | 'Rollback',
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (process.isStopped && what === 'Rollback') throw error
    const description = `${what} "${pending.name}" failed: ${error instanceof Error ? error.message : String(error)}`
    const failed: Release = { ...pending, status: 'failed', description }
    await process.lastStep(`record revision ${pending.revision} as failed`, () => releases.record(failed, 'update'))
    throw error
  }
}
