/** The EdgeConnect in its tenant: made, kept in step, and removed by the operator. */
import { HttpConfigError } from '@reeve/http'
import { Secrets } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { fallback, type ResolveContext } from '@reeve/runtime/components'
import { StaleViewError } from '@reeve/runtime/engine'
import {
  clientSecretName,
  hasKubernetesAutomation,
  isProvisioner,
} from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../../../../api/latest.ts'
import { TenantApiError, TenantUnreadableError } from '../../../../tenant/client/errors.ts'
import {
  createPlatformClient,
  type PlatformClient,
  type PlatformClientOptions,
} from '../../../../tenant/client/platform/platform-client.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { storedAutomationToken } from '../../config-secret.ts'
import {
  type EdgeConnectComponent,
  type EdgeConnectContext,
  type EdgeConnectOptions,
  userClient,
  viewOf,
} from '../../edge-connect-component.ts'
import { image } from '../image/image.ts'
import {
  CLIENT_KEYS,
  deprovision,
  disconnectAutomation,
  liveClient,
  type ProvisionContext,
  type ProvisionedClient,
  provision,
} from './provision.ts'

/** The reason of the event about an EdgeConnect that stays behind in its tenant. */
export const NOT_REMOVED = 'EdgeConnectNotRemoved'

/** The EdgeConnect as its tenant knows it. */
export interface Registration {
  readonly client: ProvisionedClient
  readonly platform: PlatformClient
}

/**
 * The registration of an EdgeConnect that the operator provisions. What is known from an earlier reconcile is enough to
 * repair what was lost in the cluster while the tenant is unavailable.
 */
export const registration: EdgeConnectComponent<Registration> = {
  name: 'registration',
  needs: [image],
  isEnabled: isProvisioner,
  mayOwn: (edgeConnect) => [{ resource: Secrets, name: clientSecretName(edgeConnect) }],
  async resolve(context) {
    const { primary, signal, use } = context
    await disconnectIfOff(context)
    const platform = use(openPlatform(context))
    const provisioning = provisionContext(context, platform)
    try {
      return { platform, client: await provision(primary, provisioning) }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Error) || error instanceof StaleViewError) throw error
      // Not from the cache: an old client would replace the current one, whose secret the tenant does not show again.
      const known = await liveClient(primary, provisioning)
      if (known === undefined) throw error
      return fallback({ platform, client: known }, error)
    }
  },
  // The tenant shows the secret of a client only once, so that it is written before anything else can fail.
  render: ({ primary, facts: { client } }) => [
    desired(Secrets, {
      metadata: { namespace: primary.metadata.namespace, name: clientSecretName(primary) },
      data: encodeSecret({
        [CLIENT_KEYS.id]: client.id,
        [CLIENT_KEYS.secret]: client.secret,
        [CLIENT_KEYS.resource]: client.resource,
        [CLIENT_KEYS.edgeConnectId]: client.edgeConnectId,
      }),
    }),
  ],
  /**
   * Without the user's client, or with a host that is none, nothing can be removed in the tenant: the finalizer is removed instead of
   * keeping the resource forever, and an event reports what is left behind.
   */
  async finalize(context) {
    const { primary, logger, reporter } = context
    try {
      await disconnectIfOff(context)
      await using platform = openPlatform(context)
      await deprovision(primary, provisionContext(context, platform))
    } catch (error) {
      if (!(error instanceof ReferenceNotFoundError || error instanceof HttpConfigError)) throw error
      const message = `the tenant keeps the EdgeConnect ${primary.metadata.name}; ${error.message}`
      reporter.event({ type: 'Warning', reason: NOT_REMOVED, message })
      logger.warn({ err: error }, 'EdgeConnect left behind in its tenant')
    }
    return undefined
  },
}

/** What calls to the tenant work with. */
export function provisionContext(
  context: ResolveContext<EdgeConnect, EdgeConnectOptions>,
  platform: PlatformClient,
): ProvisionContext {
  const { client, requireLivePrimary: requireLive, dependencies, logger, signal } = context
  const { clusterId } = dependencies
  return { platform, view: viewOf(context), client, requireLive, clusterId, logger, signal }
}

/**
 * Automation that was switched off is forgotten by the tenant while the file still has its token: a reconcile that
 * is interrupted repeats it. A client that may no longer change settings leaves the setting behind: retrying would not
 * help.
 */
async function disconnectIfOff(context: EdgeConnectContext): Promise<void> {
  const { primary, logger } = context
  if (hasKubernetesAutomation(primary) || storedAutomationToken(primary, viewOf(context)) === undefined) return
  await using platform = openPlatform(context, { hasKubernetesAutomation: true })
  try {
    await disconnectAutomation(primary, provisionContext(context, platform))
  } catch (error) {
    if (!isRefusedForGood(error)) throw error
    logger.warn({ err: error }, 'automation setting left behind in the tenant')
  }
}

/** A client of the tenant, with the credentials of the user. */
export function openPlatform(
  context: EdgeConnectContext,
  options: Pick<PlatformClientOptions, 'hasKubernetesAutomation'> = {},
): PlatformClient {
  const { primary, dependencies, clock, logger } = context
  const { apiServer, oauth, caCertsRef } = primary.spec
  const { id, secret } = userClient(context)
  return (dependencies.openPlatform ?? createPlatformClient)({
    apiServer,
    oauth: { endpoint: oauth.endpoint, clientId: id.trim(), clientSecret: secret.trim() },
    hasKubernetesAutomation: hasKubernetesAutomation(primary),
    ...options,
    ...(caCertsRef && { trustedCertificates: certificates(context, caCertsRef) }),
    clock,
    logger,
  })
}

function certificates(context: EdgeConnectContext, name: string): string {
  const view = viewOf(context)
  const { certs } = view.configMap(name) ?? {}
  if (certs) return certs
  const where = `spec.caCertsRef: the ConfigMap ${view.namespace}/${name}`
  throw new ReferenceNotFoundError(`${where} has no key certs with certificates; add it`)
}

/** Whether a client lacks a right: asking again would not help. */
export function isRefusedForGood(error: unknown): boolean {
  const isRefusal = error instanceof TenantApiError || error instanceof TenantUnreadableError
  return isRefusal && (error.status === 400 || error.status === 403)
}
