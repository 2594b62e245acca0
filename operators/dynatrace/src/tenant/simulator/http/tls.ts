/** The simulator's own authority, and the certificates it shows: a good one and an expired one. */
import { issueAuthority, issueServing, type ServingCertificate } from '@reeve/runtime/certificates'

const DAY_MS = 86_400_000

/** What the server needs for TLS. */
export interface TlsMaterial {
  /** In PEM; whoever trusts it trusts the simulator. */
  readonly caCertificate: string
  readonly serving: ServingCertificate
  readonly expired: ServingCertificate
}

/**
 * Makes an authority and what it signs. The machine's time is used whatever clock the simulator runs on: the other side
 * of a TLS connection checks dates against its own.
 */
export async function createTlsMaterial(hosts: readonly string[]): Promise<TlsMaterial> {
  const nowMs = Date.now()
  const authority = await issueAuthority('Simulated Dynatrace tenant', { nowMs, validityMs: 365 * DAY_MS })
  const serving = await issueServing(authority, hosts, { nowMs, validityMs: 90 * DAY_MS })
  const expired = await issueServing(authority, hosts, { nowMs: nowMs - 2 * DAY_MS, validityMs: DAY_MS })
  return { caCertificate: authority.certificate, serving, expired }
}
