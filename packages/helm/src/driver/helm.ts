/** The driver of the real Helm. */
import { type ClientLogger, type Clock, isRecord, systemClock } from '@reeve/http'
import type { ClusterConfig } from '@reeve/kube'
import type { HelmBinary } from '../binary/helm-binary.ts'
import { type ChartFile, chartCrds } from '../chart/chart-crds.ts'
import * as defaults from '../defaults.ts'
import { BadHelmOutputError, HelmFailedError, InvalidHelmRequestError, ReleaseNotFoundError } from '../errors.ts'
import type { RunProcess } from '../process/process-runner.ts'
import { ProcessSlots } from '../process/process-slots.ts'
import { runProcess as startProcess } from '../process/run-process.ts'
import { parseChart, parseRelease } from '../release/parse-release.ts'
import { parseHistory, parseList } from '../release/parse-summaries.ts'
import type { Release, ReleaseKey, ReleaseSummary, RevisionSummary } from '../release/release.ts'
import * as commandLine from './command-line.ts'
import { CommandRunner, type HelmCommand } from './command-runner.ts'
import type * as driver from './helm-driver.ts'
import { type HelmFolder, helmEnvironment, openFolder } from './helm-environment.ts'
import { manifestChanges } from './manifest-changes.ts'
import { planRecovery, type RecoverableRevision, type RecoveryPlan } from './plan-recovery.ts'

/** Without it Helm takes empty values for "as before". */
const RESET_VALUES = '--reset-values'

const VALUES_FROM_STDIN = '--values=-'

/** Reads from the cluster, and changes nothing in it. */
const DRY_RUN = '--dry-run=server'

/** Options of {@link openHelm}. */
export interface HelmOptions {
  /** Where helm keeps its caches and the credentials; used only by this driver. @default a temporary folder */
  readonly folder?: string
  /** Concurrent Helm processes. @default 4 */
  readonly maxConcurrent?: number
  /** Commands that may wait in the queue; the next one fails with `HelmBusyError`. @default 1_000 */
  readonly maxWaiting?: number
  /** From the request to end to the kill. @default 5_000 */
  readonly killGraceMs?: number
  /** Most of an output stream that is kept. @default 8_388_608 */
  readonly maxOutputBytes?: number
  /** Memory that one Helm process may use: more, and it is killed. On Linux only. @default 201_326_592 */
  readonly maxMemoryBytes?: number
  /** Starts processes. @default real ones */
  readonly runProcess?: RunProcess
  /** @default the clock of the machine */
  readonly clock?: Clock
  readonly logger?: ClientLogger
  /** Where the machine keeps certificates and temporary files is read from here. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * A driver for one cluster. Close it to remove the credentials from the disk.
 *
 * @example
 * await using helm = await openHelm(await findHelm(), await loadConfig())
 * await helm.install({ namespace: 'tenant-a', name: 'web' }, chart, { values: { replicas: 2 } })
 */
export async function openHelm(binary: HelmBinary, cluster: ClusterConfig, options: HelmOptions = {}): Promise<Helm> {
  return new Helm(binary, cluster, await openFolder(options.folder), options)
}

/** See {@link openHelm} for how to get one, and {@link driver.HelmDriver} for what it promises. */
export class Helm implements driver.HelmDriver {
  readonly binary: HelmBinary
  readonly #folder: HelmFolder
  readonly #commands: CommandRunner
  readonly #clock: Clock
  readonly #killGraceMs: number
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()

  /** Use {@link openHelm}. */
  constructor(binary: HelmBinary, cluster: ClusterConfig, folder: HelmFolder, options: HelmOptions) {
    const { clock = systemClock, env = process.env, logger } = options
    const { maxConcurrent = defaults.DEFAULT_MAX_CONCURRENT, maxWaiting = defaults.DEFAULT_MAX_WAITING } = options
    if (!(maxConcurrent >= 1))
      throw new InvalidHelmRequestError(`maxConcurrent is ${maxConcurrent}: it must be 1 or more`)
    this.binary = binary
    this.#folder = folder
    this.#clock = clock
    this.#killGraceMs = options.killGraceMs ?? defaults.DEFAULT_KILL_GRACE_MS
    this.#commands = new CommandRunner({
      path: binary.path,
      folder: folder.path,
      env: helmEnvironment(folder.path, env),
      cluster,
      slots: new ProcessSlots({ maxConcurrent, maxWaiting }),
      runProcess: options.runProcess ?? startProcess,
      clock,
      killGraceMs: this.#killGraceMs,
      maxOutputBytes: options.maxOutputBytes ?? defaults.DEFAULT_MAX_OUTPUT_BYTES,
      maxMemoryBytes: options.maxMemoryBytes ?? defaults.DEFAULT_MAX_MEMORY_BYTES,
      closing: this.#closing.signal,
      ...(logger && { logger }),
    })
  }

  async install(
    release: ReleaseKey,
    chart: driver.ChartReference,
    options: driver.InstallOptions = {},
  ): Promise<Release> {
    const timeoutMs = changeTimeout(options)
    const flags = commandLine.deployFlags(this.binary.major, options, timeoutMs)
    const more = [...flag('--create-namespace', options.createNamespace), ...flag('--skip-crds', options.skipCrds)]
    return this.#deploy(release, chart, { verb: ['install'], flags: [...flags, ...more], timeoutMs }, options)
  }

  async upgrade(
    release: ReleaseKey,
    chart: driver.ChartReference,
    options: driver.UpgradeOptions = {},
  ): Promise<Release> {
    const timeoutMs = changeTimeout(options)
    const flags = [...commandLine.deployFlags(this.binary.major, options, timeoutMs), RESET_VALUES, historyMax(options)]
    return this.#deploy(release, chart, { verb: ['upgrade'], flags, timeoutMs }, options)
  }

  async rollback(release: ReleaseKey, revision: number, options: driver.RollbackOptions = {}): Promise<void> {
    commandLine.checkRevision(revision)
    const timeoutMs = changeTimeout(options)
    const flags = [
      commandLine.helmTimeout(timeoutMs, false),
      historyMax(options),
      ...flag('--wait', options.wait),
      ...commandLine.conflictFlags(this.binary.major, options.forceConflicts),
    ]
    await this.#run(release, { verb: ['rollback'], operands: [String(revision)], flags, timeoutMs }, options)
  }

  async uninstall(release: ReleaseKey, options: driver.UninstallOptions = {}): Promise<boolean> {
    const timeoutMs = changeTimeout(options)
    const { wait, keepHistory } = options
    const flags = [
      commandLine.helmTimeout(timeoutMs, false),
      ...flag('--wait', wait),
      ...flag('--keep-history', keepHistory),
    ]
    const output = await unlessAbsent(this.#run(release, { verb: ['uninstall'], flags, timeoutMs }, options))
    return output !== undefined
  }

  async status(release: ReleaseKey, options: driver.RevisionOptions = {}): Promise<Release> {
    const status = await this.#read(release, ['status'], options)
    const found = parseRelease(status, badOutput('status', release))
    const metadata = await this.#read(release, ['get', 'metadata'], { ...options, revision: found.revision })
    if (!isRecord(metadata)) throw badOutput('get metadata', release)('is not a JSON object')
    return { ...found, chart: parseChart({ ...metadata, name: metadata.chart }) }
  }

  async history(release: ReleaseKey, options: driver.HelmCallOptions = {}): Promise<readonly RevisionSummary[]> {
    return parseHistory(await this.#read(release, ['history'], options), badOutput('history', release))
  }

  async values(release: ReleaseKey, options: driver.RevisionOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    const values = await this.#read(release, ['get', 'values'], options)
    // Helm prints `null` when the user gave none.
    return isRecord(values) ? values : {}
  }

  async manifest(release: ReleaseKey, options: driver.RevisionOptions = {}): Promise<string> {
    const command = { verb: ['get', 'manifest'], flags: revisionFlag(options), timeoutMs: readTimeout(options) }
    return this.#run(release, command, options)
  }

  async list(options: driver.ListReleasesOptions = {}): Promise<readonly ReleaseSummary[]> {
    const { namespace, selector } = options
    if (namespace !== undefined) commandLine.checkNamespace(namespace)
    const what = `helm list${namespace === undefined ? '' : ` ${namespace}`}`
    const args = [
      'list',
      namespace === undefined ? '--all-namespaces' : `--namespace=${namespace}`,
      '--max=0',
      '--output=json',
      // Helm 4 lists releases in every state by default.
      ...flag('--all', this.binary.major === 3),
      ...(selector === undefined ? [] : [`--selector=${selector}`]),
    ]
    const json = await this.#track(this.#commands.runJson({ what, args, timeoutMs: readTimeout(options) }, options))
    return parseList(json, (problem) => new BadHelmOutputError(`the output of ${what} ${problem}`))
  }

  async template(
    release: ReleaseKey,
    chart: driver.ChartReference,
    options: driver.RenderOptions = {},
  ): Promise<string> {
    commandLine.checkChartPath(chart.path)
    const command = { verb: ['template'], operands: [chart.path], flags: [VALUES_FROM_STDIN] }
    const timeoutMs = readTimeout(options)
    return this.#run(release, { ...command, timeoutMs, ...valuesOf(options) }, options)
  }

  async render(release: ReleaseKey, chart: driver.ChartReference, options: driver.DryRunOptions): Promise<Release> {
    const { operation } = options
    const reset = flag(RESET_VALUES, operation === 'upgrade')
    const flags = [DRY_RUN, VALUES_FROM_STDIN, '--output=json', ...reset]
    return this.#deploy(release, chart, { verb: [operation], flags, timeoutMs: readTimeout(options) }, options)
  }

  async crds(
    { path }: driver.ChartReference,
    options: Pick<driver.HelmCallOptions, 'signal'> = {},
  ): Promise<readonly ChartFile[]> {
    commandLine.checkChartPath(path)
    return chartCrds(path, options)
  }

  async diff(
    release: ReleaseKey,
    chart: driver.ChartReference,
    options: driver.DiffOptions = {},
  ): Promise<driver.ReleaseDiff> {
    const current = options.current?.manifest ?? (await unlessAbsent(this.manifest(release, options)))
    const flags = ['--install', DRY_RUN, RESET_VALUES, VALUES_FROM_STDIN, '--output=json']
    const next = await this.#deploy(
      release,
      chart,
      { verb: ['upgrade'], flags, timeoutMs: readTimeout(options) },
      options,
    )
    return { changes: manifestChanges(current ?? '', next.manifest), isInstall: current === undefined }
  }

  async recover(release: ReleaseKey, options: driver.RecoverOptions = {}): Promise<RecoveryPlan> {
    const { staleAfterMs = defaults.DEFAULT_CHANGE_TIMEOUT_MS + this.#killGraceMs } = options
    const history = options.history ?? (await this.#revisions(release, options))
    const plan = planRecovery(history, { now: this.#clock.now(), staleAfterMs })
    if (plan.action === 'uninstall') await this.uninstall(release, options)
    if (plan.action === 'rollback') await this.rollback(release, plan.revision, options)
    return plan
  }

  /** Ends what runs and removes the credentials. A second call does nothing. */
  async close(): Promise<void> {
    this.#closing.abort(new HelmFailedError('the helm driver was closed', null))
    await Promise.allSettled(this.#underWay)
    await this.#folder.remove()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #deploy(
    release: ReleaseKey,
    chart: driver.ChartReference,
    command: Pick<ReleaseCommand, 'verb' | 'flags' | 'timeoutMs'>,
    options: driver.RenderOptions,
  ): Promise<Release> {
    commandLine.checkChartPath(chart.path)
    const complete = { ...command, operands: [chart.path], ...valuesOf(options) }
    const json = await this.#track(this.#commands.runJson(toCommand(release, complete), options))
    return parseRelease(json, badOutput(command.verb.join(' '), release))
  }

  #read(release: ReleaseKey, verb: readonly string[], options: driver.RevisionOptions): Promise<unknown> {
    const flags = [...revisionFlag(options), '--output=json']
    const command = toCommand(release, { verb, flags, timeoutMs: readTimeout(options) })
    return this.#track(this.#commands.runJson(command, options))
  }

  #run(release: ReleaseKey, command: ReleaseCommand, options: driver.HelmCallOptions): Promise<string> {
    return this.#track(this.#commands.run(toCommand(release, command), options))
  }

  async #revisions(release: ReleaseKey, options: driver.HelmCallOptions): Promise<readonly RecoverableRevision[]> {
    const history = await unlessAbsent(this.history(release, options))
    return (history ?? []).map(({ revision, status, updated }) => ({ revision, status, lastDeployed: updated }))
  }

  /** Tracks running commands, so that close can wait for them. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work)
    const forget = () => this.#underWay.delete(work)
    work.then(forget, forget)
    return work
  }
}

/** A command about one release. */
interface ReleaseCommand {
  /** Such as `['get', 'values']`. */
  readonly verb: readonly string[]
  /** What follows the name of the release. */
  readonly operands?: readonly string[]
  readonly flags: readonly string[]
  readonly timeoutMs: number
  readonly values?: driver.HelmValues
  readonly valuesAreSecret?: boolean
}

function valuesOf({ values = {}, valuesAreSecret = false }: driver.RenderOptions) {
  return { values, valuesAreSecret }
}

function toCommand(release: ReleaseKey, command: ReleaseCommand): HelmCommand {
  commandLine.checkRelease(release)
  const { verb, operands = [], flags, ...rest } = command
  return {
    ...rest,
    what: `helm ${verb.join(' ')} ${release.namespace}/${release.name}`,
    group: release.namespace,
    args: [...verb, release.name, ...operands, ...flags, `--namespace=${release.namespace}`],
  }
}

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ReleaseNotFoundError) return undefined
    throw error
  }
}

function badOutput(verb: string, { namespace, name }: ReleaseKey): (problem: string) => Error {
  return (problem) => new BadHelmOutputError(`the output of helm ${verb} ${namespace}/${name} ${problem}`)
}

function flag(name: string, isSet: boolean | undefined): readonly string[] {
  return isSet ? [name] : []
}

function revisionFlag({ revision }: driver.RevisionOptions): readonly string[] {
  if (revision === undefined) return []
  commandLine.checkRevision(revision)
  return [`--revision=${revision}`]
}

function historyMax({ historyMax = defaults.DEFAULT_HISTORY_MAX }: { readonly historyMax?: number }): string {
  return `--history-max=${historyMax}`
}

function changeTimeout({ timeoutMs = defaults.DEFAULT_CHANGE_TIMEOUT_MS }: driver.HelmCallOptions): number {
  return timeoutMs
}

function readTimeout({ timeoutMs = defaults.DEFAULT_READ_TIMEOUT_MS }: driver.HelmCallOptions): number {
  return timeoutMs
}
