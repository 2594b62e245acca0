/** Connects to the cluster and runs the checks. */
import { headerValue, systemClock, type Transport, UndiciTransport } from '@reeve/http'
import { createClient, loadConfig } from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import manifest from '../../../package.json' with { type: 'json' }
import { MODULES_VARIABLE, parseModules } from '../../api/validation/modules.ts'
import { serverTime } from './checks/clock.ts'
import type { ServerTime, TroubleshootContext } from './context.ts'
import { troubleshoot } from './troubleshoot.ts'

/** What a run depends on. */
export type TroubleshootRun = Pick<TroubleshootContext, 'namespace' | 'dynakube' | 'pod' | 'env' | 'signal' | 'report'>

/**
 * Runs all checks on the cluster of the process environment; returns whether they passed.
 *
 * *Errors*: those of `loadConfig`, and the reason of the signal.
 */
export async function runTroubleshoot(run: TroubleshootRun): Promise<boolean> {
  const config = await loadConfig({ env: run.env })
  let latest: ServerTime | undefined
  const transport = observed(new UndiciTransport(config), (date) => {
    latest = serverTime(date, systemClock.now()) ?? latest
  })
  const userAgent = `dynatrace-troubleshoot/${manifest.version}`
  const impersonate = config.impersonate
  const client = createClient({ transport, userAgent, ...(impersonate && { impersonate }) })
  try {
    return await troubleshoot({
      ...run,
      client,
      modules: parseModules(run.env[MODULES_VARIABLE]),
      operatorVersion: manifest.version,
      clock: systemClock,
      // Failures are findings; a log in between would be noise.
      logger: silentLogger,
      apiServerTime: () => latest,
    })
  } finally {
    await client.close()
  }
}

/** Passes the `Date` header of every response on. */
function observed(transport: Transport, onDate: (date: string | undefined) => void): Transport {
  return {
    async send(request) {
      const response = await transport.send(request)
      onDate(headerValue(response.headers, 'date'))
      return response
    },
    close: () => transport.close(),
  }
}
