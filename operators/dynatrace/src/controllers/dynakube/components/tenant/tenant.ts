/** The tenant: its tokens and the way to it, which everything else needs. */
import { isTenantUnavailable } from '../../../../tenant/client/errors.ts'
import { resolveTrustedCertificates } from '../../../references/trusted-certificates.ts'
import { tenantConnection } from '../../../tenant-access/tenant-connection.ts'
import { readTokens } from '../../../tenant-access/tokens.ts'
import { clusterPassOf, connectorOf, type DynaKubeComponent, type DynaKubeContext } from '../../engine-component.ts'
import { resolveProxy } from '../../resolve/referenced.ts'
import { reportTokenError, verifyTokens } from '../../resolve/tokens.ts'

/**
 * Reads what the DynaKube refers to, connects, and looks up what the tokens may do. Whatever is wrong before the tenant
 * can be asked is told in the condition of the tokens.
 *
 * @param first components that come before the first call
 */
export function tenantComponent(first: readonly DynaKubeComponent[]): DynaKubeComponent {
  return {
    name: 'tenant',
    needs: first,
    mayOwn: () => [],
    async resolve(context) {
      try {
        return await connect(context)
      } catch (error) {
        context.signal.throwIfAborted()
        if (error instanceof Error && !isTenantUnavailable(error)) reportTokenError(clusterPassOf(context), error)
        throw error
      }
    },
    isReady: () => true,
  }
}

async function connect(context: DynaKubeContext) {
  const { primary, dependencies, reporter, use } = context
  const pass = clusterPassOf(context)
  const tokens = readTokens(primary, pass.view)
  const material = {
    ...tokens,
    ...(await resolveProxy(pass)),
    ...resolveTrustedCertificates(primary, pass.view),
  }
  const tenant = use(connectorOf(context)(tenantConnection(primary, tokens, material, context)))
  await verifyTokens({ ...pass, tenant }, tokens, dependencies)
  reporter.update({ kubeSystemUUID: dependencies.clusterId })
  return { ...material, tenant }
}
