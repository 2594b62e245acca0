/** The Secret with tokens of the tenant that users create before a DynaKube. */
import { Secrets } from '@reeve/kube'
import type { User } from '@reeve/simulation'
import { encodeSecret } from '../src/controllers/rendering/secret-data.ts'
import { NAMESPACE } from './dynatrace-under-test.ts'
import type { TenantWorld } from './tenant-world.ts'

/** Creates the Secret `tokens` in the namespace of the operator. */
export async function addTokens({ client, world }: Pick<User<TenantWorld>, 'client' | 'world'>): Promise<void> {
  const { tokens } = world.tenant
  const values = ['apiToken', 'dataIngestToken'].map((name) => [name, tokens.get(name)?.value ?? ''] as const)
  await client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: NAMESPACE, name: 'tokens' },
    data: encodeSecret(Object.fromEntries(values)),
  })
}
