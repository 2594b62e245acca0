/** `dynatrace-operator startup-probe`: whether the DNS of the cluster responds, as a probe of containers. */

import { EXIT, type Subcommand } from '@reeve/cli'
import { InvalidArgumentError } from 'commander'
import type { Resolve } from './system-resolver.ts'

/** The name of the API server; every cluster has it, by way of the search domains that pods are given. */
export const API_SERVER_HOST = 'kubernetes.default.svc'

interface ProbeOptions {
  /** In seconds. */
  readonly timeout: number
}

/** More than any probe waits, and less than timers can. */
const MAX_TIMEOUT_SECONDS = 3_600

const EXAMPLES = `
Examples:
  dynatrace-operator startup-probe
  dynatrace-operator startup-probe --timeout 2`

/** The subcommand. */
export const command: Subcommand<ProbeOptions> = {
  configure: (cli) =>
    void cli
      .description(
        `Resolves ${API_SERVER_HOST} as programs of this container would. Silent when it works; exits with 1 when it does
not or takes too long, so that a container is started again instead of working without DNS.`,
      )
      .option('--timeout <seconds>', 'how long it may take', seconds, 5)
      .addHelpText('after', EXAMPLES),
  run: async ({ timeout }, { stderr }) => {
    const { resolveWithSystem } = await import('./system-resolver.ts')
    const problem = await probeDns(timeout * 1_000, resolveWithSystem)
    if (problem === undefined) return EXIT.done
    stderr.write(`dynatrace-operator: ${problem}\n`)
    return EXIT.failed
  },
}

/**
 * Says what is wrong with the DNS of the cluster, or nothing.
 *
 * @example
 * const problem = await probeDns(5_000, resolveWithSystem)
 */
export async function probeDns(timeoutMs: number, resolve: Resolve): Promise<string | undefined> {
  try {
    const addresses = await resolve(API_SERVER_HOST, AbortSignal.timeout(timeoutMs))
    return addresses.length > 0 ? undefined : `${API_SERVER_HOST} has no address; check the DNS of the cluster`
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return `${API_SERVER_HOST} could not be resolved: ${reason}; check the DNS of the cluster`
  }
}

function seconds(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value > 0 && value <= MAX_TIMEOUT_SECONDS) return value
  throw new InvalidArgumentError(`It must be a whole number of seconds from 1 to ${MAX_TIMEOUT_SECONDS}.`)
}
