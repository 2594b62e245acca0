/** Secrets with the tokens with which agents and gateways connect; only they read them. */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'

/** The key of the token. */
export const TENANT_TOKEN_KEY = 'tenant-token'

/** Renders such a Secret. */
export function tenantSecret({ metadata }: DynaKube, name: string, token: string): DesiredObject {
  return desired(Secrets, {
    metadata: { namespace: metadata.namespace, name },
    data: encodeSecret({ [TENANT_TOKEN_KEY]: token }),
  })
}
