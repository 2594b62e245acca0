/** Runs an exec plugin as a child process, within a time and an output limit. */
import { spawn } from 'node:child_process'
import type { Clock } from '@reeve/http'
import { CredentialsError } from '../errors.ts'
import type { KubeconfigExec } from './kubeconfig-document.ts'

/** Credentials are a few kilobytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024

/** Options of a run. */
export interface RunPluginOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Passed as `KUBERNETES_EXEC_INFO`. */
  readonly info: string
  readonly timeoutMs: number
  readonly clock: Clock
}

/**
 * The standard output of the plugin. Its standard error is forwarded to ours, so that messages such as "log in first"
 * reach the user without being part of an error or log entry of this process.
 */
export function runPlugin(plugin: KubeconfigExec, options: RunPluginOptions): Promise<string> {
  const { env, info, timeoutMs, clock } = options
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const failed = (problem: string) => new CredentialsError(`${plugin.where}: ${plugin.command} ${problem}`)
  const child = spawn(plugin.command, [...plugin.args], {
    env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: info },
    stdio: ['ignore', 'pipe', 'inherit'],
    windowsHide: true,
  })
  const timer = clock.schedule(timeoutMs, () => {
    child.kill('SIGKILL')
    reject(failed(`did not finish within ${timeoutMs} ms and was stopped`))
  })
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_OUTPUT_BYTES) {
      child.kill('SIGKILL')
      reject(failed(`printed more than ${MAX_OUTPUT_BYTES} bytes and was stopped`))
      return
    }
    chunks.push(chunk)
  })
  child.on('error', (error) => {
    const code = 'code' in error ? String(error.code) : error.message
    const hint = plugin.installHint === undefined ? '' : `; ${plugin.installHint.trim()}`
    reject(failed(`could not be started (${code})${hint}`))
  })
  child.on('close', (exitCode, signalName) => {
    if (exitCode === 0) resolve(Buffer.concat(chunks).toString('utf8'))
    else
      reject(
        failed(
          `failed with ${exitCode === null ? `signal ${signalName}` : `exit code ${exitCode}`}; see its output on stderr`,
        ),
      )
  })
  return promise.finally(() => timer.cancel())
}
