/** Reports to a tenant that a host is removed on purpose, so that no alert is raised. */
import type { Clock } from '@reeve/http'
import type { Logger } from '@reeve/runtime'
import { proxyUrl } from '../../api/dynakube/proxy.ts'
import type { DynaKube } from '../../api/latest.ts'
import type { TenantClient, TenantClientOptions } from '../../tenant/client/tenant-client.ts'
import type { NamespaceView } from '../references/namespace-view.ts'
import { resolveTrustedCertificates } from '../references/trusted-certificates.ts'
import { tenantConnection } from '../tenant-access/tenant-connection.ts'
import { readTokens } from '../tenant-access/tokens.ts'
import type { NodeEntry } from './node-entry.ts'

/** The event has to come before the host fell silent, and both clocks may differ. */
const EVENT_LEAD_MS = 10 * 60_000

/** What marking works with. */
export interface MarkingContext {
  readonly view: NamespaceView
  readonly connect: (options: TenantClientOptions) => TenantClient
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Sends the event for a node. A host that the tenant does not know, and a tenant without these calls, are
 * fine: nothing is reported.
 *
 * *Errors*: what is wrong with tokens, proxy or certificates of the DynaKube; those of the tenant.
 */
export async function markForTermination(
  dynakube: DynaKube,
  { ip, seenMs }: Pick<NodeEntry, 'ip' | 'seenMs'>,
  context: MarkingContext,
): Promise<void> {
  const { connect, logger, signal } = context
  await using tenant = connect(await connectionOf(dynakube, context))
  const { networkZone } = dynakube.spec
  const found = await tenant.hosts.findByIp(ip, { signal, ...(networkZone && { networkZone }) })
  if (found.outcome !== 'found') {
    logger.info({ ip, outcome: found.outcome }, 'no host to mark for termination')
    return
  }
  const timeMs = seenMs - EVENT_LEAD_MS
  const event = {
    eventType: 'MARKED_FOR_TERMINATION',
    description: 'Kubernetes takes this node out of service; it may be drained and removed',
    source: 'Dynatrace Operator',
    entityIds: [found.entityId],
    startMs: timeMs,
    endMs: timeMs,
  }
  const isSent = await tenant.hosts.sendEvent(event, { signal })
  if (isSent) logger.info({ ip, host: found.entityId }, 'marked for termination')
  else logger.info({ ip }, 'the tenant takes no events')
}

async function connectionOf(dynakube: DynaKube, { view, clock, logger }: MarkingContext): Promise<TenantClientOptions> {
  const { apiToken } = readTokens(dynakube, view)
  const { trustedCertificates } = resolveTrustedCertificates(dynakube, view)
  const url = await proxyUrl(dynakube, async (name) => view.secret(name))
  const material = {
    ...(url !== undefined && { proxyUrl: url }),
    ...(trustedCertificates !== undefined && { trustedCertificates }),
  }
  return tenantConnection(dynakube, { apiToken }, material, { clock, logger })
}
