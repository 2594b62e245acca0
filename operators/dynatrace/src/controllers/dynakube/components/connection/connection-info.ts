/** How agents and gateways reach the tenant, asked for when the last answer is old or was lost. */

import { waiting } from '@reeve/runtime'
import type { Waiting } from '@reeve/runtime/components'
import { namesOf } from '../../../../api/dynakube/names.ts'
import type { CommunicationHost } from '../../../../tenant/client/communication-hosts.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { CONDITIONS, dynatraceApiMessage, REASONS } from '../../condition-types.ts'
import type { Material } from '../../render-input.ts'
import type { Pass } from '../../resolve/pass.ts'

/** The key of the token in both Secrets. */
export const TENANT_TOKEN_KEY = 'tenant-token'

/** How soon the tenant is asked again for endpoints that it does not have yet. */
const HOSTS_AGAIN_MS = 60_000

/**
 * Where agents connect. Waits while there is nowhere to connect to: with a network zone, endpoints appear once a gateway
 * runs in it. *Errors*: errors of the tenant.
 *
 * @example
 * const { oneAgentTenantToken } = await resolveOneAgentConnection(pass)
 */
export async function resolveOneAgentConnection(pass: Pass): Promise<Material | Waiting> {
  const { draft, view, tenant, signal } = pass
  const type = CONDITIONS.oneAgentConnection
  const name = namesOf(draft.dynakube).oneAgentTenantSecret
  const stored = view.secret(name)?.[TENANT_TOKEN_KEY]
  if (stored !== undefined && !draft.isOutdated(type)) return { oneAgentTenantToken: stored }
  draft.set(type, 'False', REASONS.secretOutdated, `${name} outdated`)
  const { networkZone } = draft.dynakube.spec
  const info = await reported(pass, type, () =>
    tenant.connectionInfo.oneAgent({ signal, ...(networkZone && { networkZone }) }),
  )
  const { tenantUuid, endpoints, tenantToken } = info
  // Sorted, as the tenant has no order for them and a change would be written.
  const communicationHosts = [...info.hosts].sort(byAddress).map((host) => ({ ...host }))
  const known = { tenantUUID: tenantUuid, endpoints, communicationHosts }
  const before = draft.status.oneAgent?.connectionInfoStatus
  if (communicationHosts.length === 0) {
    draft.updateOneAgent({ connectionInfoStatus: { ...before, ...known } })
    draft.set(type, 'False', 'EmptyCommunicationHosts', 'The tenant names no endpoints for agents')
    return waiting('endpoints for agents', { requeueAfterMs: HOSTS_AGAIN_MS })
  }
  draft.updateOneAgent({ connectionInfoStatus: { ...known, tenantTokenHash: hashOf(tenantToken) } })
  draft.set(type, 'True', REASONS.secretCreated, `${name} created`)
  return { oneAgentTenantToken: tenantToken }
}

/** Where gateways connect. *Errors*: errors of the tenant. */
export async function resolveActiveGateConnection(pass: Pass): Promise<Material> {
  const { draft, view, tenant, signal } = pass
  const type = CONDITIONS.activeGateConnection
  const name = namesOf(draft.dynakube).activeGateTenantSecret
  const stored = view.secret(name)?.[TENANT_TOKEN_KEY]
  if (stored !== undefined && !draft.isOutdated(type)) return { activeGateTenantToken: stored }
  draft.set(type, 'False', REASONS.secretOutdated, `${name} outdated`)
  const { tenantUuid, endpoints, tenantToken } = await reported(pass, type, () =>
    tenant.connectionInfo.activeGate({ signal }),
  )
  draft.updateActiveGate({
    connectionInfoStatus: { tenantUUID: tenantUuid, endpoints, tenantTokenHash: hashOf(tenantToken) },
  })
  draft.set(type, 'True', REASONS.secretCreated, `${name} created`)
  return { activeGateTenantToken: tenantToken }
}

/** Runs a call and tells its failure in a condition. */
export async function reported<T>({ draft, signal }: Pass, type: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error) draft.set(type, 'False', REASONS.dynatraceApiError, dynatraceApiMessage(error))
    throw error
  }
}

function byAddress(left: CommunicationHost, right: CommunicationHost): number {
  const [a, b] = [left, right].map(({ protocol, host, port }) => `${host}:${port}:${protocol}`)
  return (a ?? '') < (b ?? '') ? -1 : 1
}
