/** Clocks that differ: certificates and tokens are then not valid yet, or no longer. */
import { headerValue, openOutbound } from '@reeve/http'
import type { Stored } from '@reeve/kube'
import { apiHost } from '../../../api/dynakube/tenant-facts.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { tenantAccess } from '../../../csi/provisioner/install/dynakube-access.ts'
import { REQUEST_TIMEOUT_MS, reporterOf, type ServerTime, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

/** A date header has whole seconds, and the response takes its time. */
const WARNING_MS = 30_000
/** As far apart as certificates are backdated. */
const ERROR_MS = 5 * 60_000

/** Compares this machine's clock with those of the API server and of tenants. */
export async function checkClock(context: TroubleshootContext, dynakubes: readonly Stored<DynaKube>[]): Promise<void> {
  const reporter = reporterOf(context, 'clock')
  reporter.start('checking clocks ...')
  judge(reporter, 'the API server', context.apiServerTime())
  const hosts = new Map(dynakubes.map((dynakube) => [apiHost(dynakube), dynakube]))
  for (const [host, dynakube] of hosts) {
    const time = await tenantTime(context, dynakube)
    // What keeps a tenant from being reached is reported with its DynaKube.
    if (time !== undefined) judge(reporter, `the tenant at ${host}`, time)
  }
}

function judge(reporter: CheckReporter, server: string, time: ServerTime | undefined): void {
  if (time === undefined) {
    reporter.info(`${server} does not say what time it is`)
    return
  }
  const skewMs = time.localMs - time.serverMs
  const seconds = Math.round(Math.abs(skewMs) / 1_000)
  const text = `the local clock is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} that of ${server}`
  const remedy = 'synchronize the clocks of the nodes, for example with chrony'
  if (Math.abs(skewMs) >= ERROR_MS) reporter.error(text, remedy)
  else if (Math.abs(skewMs) >= WARNING_MS) reporter.warning(text, remedy)
  else reporter.ok(`the local clock agrees with that of ${server}`)
}

async function tenantTime(context: TroubleshootContext, dynakube: Stored<DynaKube>): Promise<ServerTime | undefined> {
  const { client, clock, env, logger, signal } = context
  try {
    const access = await tenantAccess({ dynakube, client, logger, signal })
    const sender = openOutbound({ ...access, env })
    try {
      const response = await sender.send({
        method: 'GET',
        url: new URL(access.apiUrl),
        headers: {},
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      })
      return serverTime(headerValue(response.headers, 'date'), clock.now())
    } finally {
      await sender.close()
    }
  } catch {
    // Reported by the check of the DynaKube, with the cause.
    signal.throwIfAborted()
    return undefined
  }
}

/** The time in a `Date` header. */
export function serverTime(header: string | undefined, localMs: number): ServerTime | undefined {
  const serverMs = Date.parse(header ?? '')
  return Number.isNaN(serverMs) ? undefined : { serverMs, localMs }
}
