/** Access to the images of the tenant's own registry. */
import { Secrets } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import { apiHost, tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { type Component, known } from '../../component.ts'
import { CONDITIONS } from '../../condition-types.ts'
import { created } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { activeGateTenantSecret, oneAgentTenantSecret } from './tenant-secrets.ts'

/** Whether images of the tenant may be pulled. */
export const needsPullSecret = (dynakube: DynaKube): boolean =>
  needsOneAgentDaemonSet(dynakube) || hasActiveGate(dynakube)

/** The Secret that pods name to pull from the tenant. */
export const pullSecret: Component = {
  name: 'pull secret',
  after: [activeGateTenantSecret, oneAgentTenantSecret],
  isEnabled: needsPullSecret,
  conditions: (dynakube) => [created(CONDITIONS.pullSecret, 'Secret', namesOf(dynakube).pullSecret)],
  /** It names the tenant, which both connections tell: it waits when neither did. */
  resolve({ draft }, { outcomeOf }) {
    const { oneAgent: agent, activeGate: gateway } = draft.status
    if (agent?.connectionInfoStatus?.tenantUUID || gateway?.connectionInfoStatus?.tenantUUID) return undefined
    const connections = [oneAgentTenantSecret, activeGateTenantSecret].map((connection) => outcomeOf(connection))
    const failed = connections.find((outcome) => outcome?.failure !== undefined)
    if (failed?.failure !== undefined) throw failed.failure
    return connections.find((outcome) => outcome?.waiting !== undefined)?.waiting
  },
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).pullSecret }],
  render(input) {
    const { dynakube } = input
    if (!needsPullSecret(dynakube)) return []
    return [
      desired(Secrets, {
        metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).pullSecret },
        type: 'kubernetes.io/dockerconfigjson',
        data: encodeSecret({ '.dockerconfigjson': dockerConfig(input) }),
      }),
    ]
  },
}

function dockerConfig({ dynakube, material }: RenderInput): string {
  const username = tenantUuid(dynakube)
  const password = known(material.paasToken || material.apiToken, 'the pull secret', 'a token')
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  return JSON.stringify({ auths: { [apiHost(dynakube)]: { username, password, auth } } })
}
