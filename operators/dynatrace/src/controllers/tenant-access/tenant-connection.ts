/** How the tenant of a DynaKube is reached. */
import type { Clock } from '@reeve/http'
import type { Logger } from '@reeve/runtime'
import { featureFlags } from '../../api/feature-flags.ts'
import type { DynaKube } from '../../api/latest.ts'
import type { TenantClientOptions } from '../../tenant/client/tenant-client.ts'
import type { Tokens } from './tokens.ts'

/**
 * The options of a client, from the resource and the texts that it refers to.
 *
 * @example
 * await using tenant = createTenantClient(tenantConnection(dynakube, tokens, material, { clock, logger }))
 */
export function tenantConnection(
  dynakube: DynaKube,
  { apiToken, paasToken }: Tokens,
  { proxyUrl, trustedCertificates }: { readonly proxyUrl?: string; readonly trustedCertificates?: string },
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): TenantClientOptions {
  const { apiUrl, skipCertCheck } = dynakube.spec
  return {
    apiUrl,
    apiToken,
    // An empty one stands for the API token.
    ...(paasToken && { paasToken }),
    ...(proxyUrl !== undefined && { proxy: { url: proxyUrl, noProxy: featureFlags(dynakube).noProxy } }),
    ...(trustedCertificates !== undefined && { trustedCertificates }),
    ...(skipCertCheck !== undefined && { skipCertificateCheck: skipCertCheck }),
    clock,
    logger,
  }
}
