/** The tenant: tokens and a client for it, which everything else needs. */
import { isTenantUnavailable } from '../../../../tenant/client/errors.ts'
import type { TenantClient } from '../../../../tenant/client/tenant-client.ts'
import { resolveTrustedCertificates } from '../../../references/trusted-certificates.ts'
import { tenantConnection } from '../../../tenant-access/tenant-connection.ts'
import { readTokens, type Tokens } from '../../../tenant-access/tokens.ts'
import {
  type DynaKubeComponent,
  type DynaKubeContext,
  type DynaKubeInput,
  RENDERS_NOTHING,
  viewOf,
} from '../../dynakube-component.ts'
import { istioForApi } from '../istio/istio.ts'
import { SCOPE_CONDITIONS } from './optional-scopes.ts'
import { resolveProxy } from './proxy.ts'
import { reportTokenError, TOKENS_CONDITION, verifyTokens } from './verify-tokens.ts'

/** What is known once the tokens are verified. */
export interface TenantFacts extends Tokens {
  readonly client: TenantClient
  /** The URL of the proxy, with its password. */
  readonly proxyUrl?: string
  /** Certificates that the user trusts, as PEM. */
  readonly trustedCertificates?: string
}

/**
 * Reads what the DynaKube refers to, connects to the tenant and verifies the tokens. In a mesh that blocks outgoing
 * traffic the first request would fail, so that the ServiceEntry for the API comes first.
 */
export const tenant: DynaKubeComponent<TenantFacts> = {
  name: 'tenant',
  needs: [istioForApi],
  conditions: [TOKENS_CONDITION, ...SCOPE_CONDITIONS],
  ...RENDERS_NOTHING,
  async resolve(context) {
    try {
      return await connect(context)
    } catch (error) {
      context.signal.throwIfAborted()
      if (error instanceof Error && !isTenantUnavailable(error)) reportTokenError(context, error)
      throw error
    }
  },
}

async function connect(context: DynaKubeContext): Promise<TenantFacts> {
  const { primary, dependencies, reporter, use } = context
  const view = viewOf(context)
  const facts = {
    ...readTokens(primary, view),
    ...(await resolveProxy(context)),
    ...resolveTrustedCertificates(primary, view),
  }
  const client = use(dependencies.connect(tenantConnection(primary, facts, facts, context)))
  await verifyTokens(context, client, facts)
  reporter.update({ kubeSystemUUID: dependencies.clusterId })
  return { ...facts, client }
}

/** The facts of the tenant, for components that need it. */
export function tenantOf({ factsOf }: Pick<DynaKubeContext | DynaKubeInput, 'factsOf'>): TenantFacts {
  const facts = factsOf(tenant)
  if (facts === undefined) throw new Error('a component that uses the tenant must list it in `needs`')
  return facts
}
