/** Credentials from an external program, with the `client.authentication.k8s.io` protocol. */
import type { Clock, CredentialSource, Credentials } from '@reeve/http'
import { DEFAULT_EXEC_TIMEOUT_MS } from '../defaults.ts'
import { ConfigError } from '../errors.ts'
import { type ExecResult, execInfo, parseExecCredential } from './exec-credential.ts'
import { runPlugin } from './exec-process.ts'
import type { KubeconfigCluster, KubeconfigExec } from './kubeconfig-document.ts'

/** Credentials are renewed this long before they expire, or after 90 % of a shorter lifetime. */
const EXPIRY_LEEWAY_MS = 30_000

/**
 * A server that rejects brand-new credentials will reject the next ones as well: do not start a process per request.
 */
const MIN_RENEW_INTERVAL_MS = 5_000

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** Options of the plugin. */
export interface ExecCredentialsOptions {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** @default 60_000 */
  readonly timeoutMs?: number
}

/**
 * Runs the plugin when credentials are first needed, when they are about to expire, and when the server rejects them.
 * Concurrent callers share one run.
 */
export class ExecCredentials implements CredentialSource {
  readonly #plugin: KubeconfigExec
  readonly #cluster: KubeconfigCluster
  readonly #options: ExecCredentialsOptions
  #current: { readonly credentials: Credentials; readonly validUntil: number; readonly obtainedAt: number } | undefined
  #running: Promise<Credentials> | undefined

  constructor(plugin: KubeconfigExec, cluster: KubeconfigCluster, options: ExecCredentialsOptions) {
    if (!API_VERSIONS.includes(plugin.apiVersion)) {
      throw new ConfigError(
        `${plugin.where}.apiVersion "${plugin.apiVersion}" is not supported; use ${API_VERSIONS[0]}`,
      )
    }
    if (plugin.interactiveMode === 'Always') {
      throw new ConfigError(`${plugin.where}.interactiveMode is Always, but no terminal is available; use IfAvailable`)
    }
    this.#plugin = plugin
    this.#cluster = cluster
    this.#options = options
  }

  async get(signal?: AbortSignal): Promise<Credentials> {
    if (this.#current !== undefined && this.#options.clock.now() < this.#current.validUntil) {
      return this.#current.credentials
    }
    return this.#obtain(signal)
  }

  async renew(rejected: Credentials, signal?: AbortSignal): Promise<Credentials | undefined> {
    const { clock } = this.#options
    const current = this.#current
    if (current !== undefined && current.credentials !== rejected) return current.credentials
    if (current !== undefined && clock.now() - current.obtainedAt < MIN_RENEW_INTERVAL_MS) return undefined
    return this.#obtain(signal)
  }

  async #obtain(signal: AbortSignal | undefined): Promise<Credentials> {
    // The run outlives the caller that started it: other callers wait for the same result.
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    const running = this.#running
    if (signal === undefined) return running
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      running.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  async #run(): Promise<Credentials> {
    const { clock, env, timeoutMs = DEFAULT_EXEC_TIMEOUT_MS } = this.#options
    const info = await execInfo(this.#plugin, this.#cluster)
    const output = await runPlugin(this.#plugin, { env, info, timeoutMs, clock })
    const result = parseExecCredential(output, this.#plugin)
    const obtainedAt = clock.now()
    this.#current = { credentials: result.credentials, validUntil: validUntil(result, obtainedAt), obtainedAt }
    return result.credentials
  }
}

function validUntil({ expiresAt }: ExecResult, now: number): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  return Math.max(expiresAt - EXPIRY_LEEWAY_MS, now + (expiresAt - now) * 0.9)
}
