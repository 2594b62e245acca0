/** Helm without its process: the commands that explored operators get. */
import {
  type ChangeOptions,
  type DeployOptions,
  type DryRunOptions,
  type HelmBinary,
  HelmError,
  HelmFailedError,
  ObjectRefusedError,
  planRecovery,
  type RecoverOptions,
  type RecoveryPlan,
  type Release,
  type ReleaseKey,
  type UninstallOptions,
} from '@reeve/helm'
import type { Clock } from '@reeve/http'
import { isInvalid } from '@reeve/kube'
import type { OutsideCall } from '@reeve/simulation'
import type { ReleaseCommands } from '../src/release/collector-context.ts'
import { type Deployment, type HelmCommand, install, render, rollback, uninstall, upgrade } from './helm-commands.ts'
import { HelmProcess } from './helm-process.ts'
import type { ReleaseStore } from './release-store.ts'

/** What a driver works on: the simulated world, or any other cluster. */
export interface HelmSurroundings {
  readonly clock: Clock
  readonly releases: ReleaseStore
}

/** Options of {@link SimulatedHelm}. */
export interface SimulatedHelmOptions {
  /** Calls to the outside world: a process is a call, and so is each of its steps. Absent: a user runs helm. */
  readonly call?: OutsideCall
  /** Whether a process continues when the operator is killed, as it does outside a container. @default false */
  readonly outlivesOperator?: boolean
}

/** One driver of one operator. Everything it does is in the cluster of its world. */
export class SimulatedHelm implements ReleaseCommands {
  readonly binary: HelmBinary = { path: '/usr/local/bin/helm', version: '4.1.0', major: 4 }
  readonly #world: HelmSurroundings
  readonly #options: SimulatedHelmOptions

  constructor(world: HelmSurroundings, options: SimulatedHelmOptions = {}) {
    this.#world = world
    this.#options = options
  }

  async render(release: ReleaseKey, _chart: unknown, options: DryRunOptions): Promise<Release> {
    const { operation, ...deploy } = options
    return this.#run(`${operation} --dry-run`, release, options, (command) =>
      render(command, deployment('Dry run complete', deploy)),
    )
  }

  async crds(): Promise<readonly []> {
    return []
  }

  install(release: ReleaseKey, _chart: unknown, options: DeployOptions = {}): Promise<Release> {
    return this.#run('install', release, options, (command) =>
      install(command, deployment('Install complete', options)),
    )
  }

  upgrade(release: ReleaseKey, _chart: unknown, options: DeployOptions = {}): Promise<Release> {
    return this.#run('upgrade', release, options, (command) =>
      upgrade(command, deployment('Upgrade complete', options)),
    )
  }

  async rollback(release: ReleaseKey, revision: number, options: ChangeOptions = {}): Promise<void> {
    await this.#run('rollback', release, options, (command) => rollback(command, revision))
  }

  uninstall(release: ReleaseKey, options: UninstallOptions = {}): Promise<boolean> {
    return this.#run('uninstall', release, options, (command) => uninstall(command, options.keepHistory))
  }

  async recover(release: ReleaseKey, options: RecoverOptions = {}): Promise<RecoveryPlan> {
    const { history = await this.#world.releases.history(release), staleAfterMs = 0 } = options
    const plan = planRecovery(history, { now: this.#world.clock.now(), staleAfterMs })
    if (plan.action === 'uninstall') await this.uninstall(release, options)
    if (plan.action === 'rollback') await this.rollback(release, plan.revision, options)
    return plan
  }

  async #run<R>(
    verb: string,
    release: ReleaseKey,
    { signal }: ChangeOptions,
    work: (command: HelmCommand) => Promise<R>,
  ): Promise<R> {
    const { call, outlivesOperator = false } = this.#options
    const what = `helm ${verb} ${release.namespace}/${release.name}`
    const { clock, releases } = this.#world
    const process = new HelmProcess({
      what,
      clock,
      signal,
      call: outlivesOperator ? undefined : call,
      isInstant: call === undefined,
    })
    const run = () => work({ process, releases, release })
    try {
      return await (call === undefined ? run() : call(what, run))
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof HelmError) throw error
      const message = `${what}: ${error instanceof Error ? error.message : String(error)}`
      throw isInvalid(error) ? new ObjectRefusedError(message) : new HelmFailedError(message, 1)
    }
  }
}

/** @param usual the default of Helm */
function deployment(usual: string, { values = {}, labels = {}, description = usual }: DeployOptions): Deployment {
  if (typeof values === 'string') throw new Error('the simulated helm takes values as an object')
  return { values, labels, description }
}
