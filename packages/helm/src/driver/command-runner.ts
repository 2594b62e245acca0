/** Runs one helm command within its limits, and turns a failure into a typed error. */
import { type ClientLogger, type Clock, JsonLimitError, parseBoundedJson } from '@reeve/http'
import type { ClusterConfig } from '@reeve/kube'
import { HELM_JSON_LIMITS } from '../defaults.ts'
import { BadHelmOutputError, HelmFailedError, HelmMissingError, HelmTimeoutError } from '../errors.ts'
import type { ProcessOutcome, RunProcess } from '../process/process-runner.ts'
import type { ProcessSlots } from '../process/process-slots.ts'
import type { HelmCallOptions, HelmValues } from './helm-driver.ts'
import { KubeconfigFile } from './kubeconfig.ts'
import { isUnauthenticated, readFailure } from './read-failure.ts'
import { redactOutput, secretsInValues } from './redact-output.ts'

/** What all commands of a driver share. */
export interface CommandRunnerOptions {
  readonly path: string
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly cluster: ClusterConfig
  readonly slots: ProcessSlots
  readonly runProcess: RunProcess
  readonly clock: Clock
  readonly killGraceMs: number
  readonly maxOutputBytes: number
  readonly maxMemoryBytes: number
  readonly logger?: ClientLogger
  /** Aborts when the driver is closed. */
  readonly closing: AbortSignal
}

/** One command. */
export interface HelmCommand {
  /** Such as `helm upgrade tenant-a/web`, for messages. */
  readonly what: string
  /** The namespace of the release: commands of different ones take turns. @default none, which may take all turns */
  readonly group?: string
  readonly args: readonly string[]
  readonly timeoutMs: number
  /** Sent by standard input: command lines and files can be read by other processes. */
  readonly values?: HelmValues
  /** All of them, not only the obviously secret ones. */
  readonly valuesAreSecret?: boolean
}

/** Starts helm, again and again. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions

  constructor(options: CommandRunnerOptions) {
    this.#options = options
  }

  /** What the command printed. */
  async run(command: HelmCommand, options: HelmCallOptions): Promise<string> {
    const { closing, slots } = this.#options
    const signal = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing])
    return slots.run(() => this.#attempt(command, options, signal), signal, command.group)
  }

  /** What the command printed, as JSON. */
  async runJson(command: HelmCommand, options: HelmCallOptions): Promise<unknown> {
    const stdout = await this.run(command, options)
    try {
      return parseBoundedJson(Buffer.from(stdout), HELM_JSON_LIMITS)
    } catch (error) {
      if (error instanceof JsonLimitError) throw new BadHelmOutputError(`${command.what} printed ${error.message}`)
      // The parser's message quotes the output, which may hold values.
      throw new BadHelmOutputError(`${command.what} printed something that is not JSON`)
    }
  }

  async #attempt(command: HelmCommand, options: HelmCallOptions, signal: AbortSignal): Promise<string> {
    const { folder, cluster } = this.#options
    const { impersonate } = options
    const config = impersonate === undefined ? cluster : { ...cluster, impersonate }
    await using kubeconfig = await KubeconfigFile.write(folder, config, signal)
    let outcome = await this.#start(command, kubeconfig, signal)
    // The token has expired: nothing has happened yet, so it is safe to start again with a new one.
    if (outcome.exitCode !== 0 && isUnauthenticated(outcome.stderr) && (await kubeconfig.renew(signal))) {
      outcome = await this.#start(command, kubeconfig, signal)
    }
    const secrets = [...(options.secrets ?? []), ...kubeconfig.secrets]
    return this.#judge(command, secrets, outcome, signal)
  }

  async #start(command: HelmCommand, kubeconfig: KubeconfigFile, signal: AbortSignal): Promise<ProcessOutcome> {
    const { path, folder, env, runProcess, clock, killGraceMs, maxOutputBytes, maxMemoryBytes, logger } = this.#options
    const { what, args, timeoutMs, values } = command
    const startedAt = clock.now()
    const outcome = await runProcess({
      command: path,
      args,
      // Go frees memory earlier when it is close to this.
      env: { ...env, KUBECONFIG: kubeconfig.path, GOMEMLIMIT: String(Math.floor(maxMemoryBytes * 0.8)) },
      cwd: folder,
      ...(values !== undefined && { stdin: typeof values === 'string' ? values : JSON.stringify(values) }),
      timeoutMs,
      killGraceMs,
      maxOutputBytes,
      maxMemoryBytes,
      signal,
    }).catch((error: unknown) => {
      throw new HelmMissingError(`${what}: ${path} cannot be run`, { cause: error })
    })
    const { exitCode, endedBy } = outcome
    logger?.debug({ command: what, exitCode, endedBy, durationMs: clock.now() - startedAt }, 'ran helm')
    return outcome
  }

  #judge(command: HelmCommand, secrets: readonly string[], outcome: ProcessOutcome, signal: AbortSignal): string {
    const { what, timeoutMs, values, valuesAreSecret } = command
    const { exitCode, stdout, stderr, isTruncated, endedBy } = outcome
    // A command that completed although it was stopped has succeeded.
    if (exitCode === 0 && isTruncated) throw new BadHelmOutputError(`${what} printed more than is kept`)
    if (exitCode === 0) return stdout
    if (endedBy === 'abort') throw signal.reason
    if (endedBy === 'timeout') {
      throw new HelmTimeoutError(`${what} did not end within ${timeoutMs} ms and was stopped`, 'driver')
    }
    if (endedBy === 'memory') {
      const limit = `${Math.floor(this.#options.maxMemoryBytes / 1024 / 1024)} MiB`
      throw new HelmFailedError(`${what} used more than ${limit} of memory and was stopped: render less`, exitCode)
    }
    const hidden = [...secrets, ...secretsInValues(values, valuesAreSecret)]
    throw readFailure({ what, exitCode, stderr: redactOutput(stderr, hidden) })
  }
}
