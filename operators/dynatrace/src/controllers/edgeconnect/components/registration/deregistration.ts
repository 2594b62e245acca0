/** Removes an EdgeConnect from its tenant when the operator no longer provisions it. */
import { Secrets } from '@reeve/kube'
import { clientSecretName, isProvisioner } from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnectComponent } from '../../edge-connect-component.ts'
import { viewOf } from '../../edge-connect-component.ts'
import { deprovision, storedClient } from './provision.ts'
import { isRefusedForGood, NOT_REMOVED, openPlatform, provisionContext } from './registration.ts'

/**
 * `spec.oauth.provisioner` is off, but the Secret with the client that the tenant made still exists. The Secret is kept
 * until the tenant has deleted the EdgeConnect. Without the permission it remains, which an event
 * reports: retrying would not help.
 */
export const deregistration: EdgeConnectComponent = {
  name: 'deregistration',
  isEnabled: (edgeConnect) => !isProvisioner(edgeConnect),
  mayOwn: (edgeConnect) => [{ resource: Secrets, name: clientSecretName(edgeConnect) }],
  isReady: () => true,
  async resolve(context) {
    const { primary, reporter, logger } = context
    const stored = storedClient(primary, viewOf(context))
    if (stored === undefined) return undefined
    try {
      await using platform = openPlatform(context)
      await deprovision(primary, provisionContext(context, platform), stored.edgeConnectId)
    } catch (error) {
      context.signal.throwIfAborted()
      if (!isRefusedForGood(error)) throw error
      const message = `the tenant keeps the EdgeConnect ${primary.metadata.name}: the client must not delete it`
      reporter.event({ type: 'Warning', reason: NOT_REMOVED, message })
      logger.warn({ err: error }, 'EdgeConnect left behind in its tenant')
    }
    return undefined
  },
}
