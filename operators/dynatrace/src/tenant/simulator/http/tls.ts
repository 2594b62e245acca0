/** The simulator's own authority, and the certificates it shows: a good one and an expired one. */
import { issueAuthority, issueServing, type ServingCertificate } from '@reeve/runtime/certificates'

const DAY_MS = 86_400_000

/** What the server needs for TLS. */
export interface TlsMaterial {
  /** In PEM; clients that trust it trust the simulator. */
  readonly caCertificate: string
  readonly serving: ServingCertificate
  readonly expired: ServingCertificate
}

/**
 * Creates an authority and a certificate. It uses the time of the machine, not the clock of the simulator: the other side
 * of a TLS connection checks dates against its own.
 */
export async function createTlsMaterial(hosts: readonly string[]): Promise<TlsMaterial> {
  const nowMs = Date.now()
  const authority = await issueAuthority('Simulated Dynatrace tenant', { nowMs, validityMs: 365 * DAY_MS })
  const serving = await issueServing(authority, hosts, { nowMs, validityMs: 90 * DAY_MS })
  const expired = await issueServing(authority, hosts, { nowMs: nowMs - 2 * DAY_MS, validityMs: DAY_MS })
  return { caCertificate: authority.certificate, serving, expired }
}
