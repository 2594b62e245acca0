/** Namespaces of a DynaKube and what the webhook makes of pods there, for fault exploration. */
import { Namespaces, type ObjectKey, Secrets } from '@reeve/kube'
import type { Exploration, User } from '@reeve/simulation'
import { FIXED_NAMES } from '../src/api/dynakube/names.ts'
import { type DynaKubeSpec, DynaKubes } from '../src/api/latest.ts'
import { INSTANCE_LABEL } from '../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { addCsiDriver } from './csi-driver.ts'
import { dynatraceUnderTest, NAMESPACE } from './dynatrace-under-test.ts'
import { admitNamespace, admitPod } from './injecting-webhook.ts'
import { addServiceAccounts } from './service-accounts.ts'
import { AUTHORITY, TENANT, type TenantWorld } from './tenant-world.ts'
import { addTokens } from './tokens.ts'

type TenantUser = User<TenantWorld>

const key: ObjectKey = { namespace: NAMESPACE, name: 'cluster' }
const TEAM = { team: 'shop' }
const namespaceSelector = { matchLabels: TEAM }

const SPEC: DynaKubeSpec = {
  apiUrl: `https://${AUTHORITY}/e/${TENANT}/api`,
  tokens: 'tokens',
  // A day: calls that are repeated and recorded after hours would not be a rest.
  dynatraceApiRequestThreshold: 1_440,
  oneAgent: { applicationMonitoring: { namespaceSelector } },
  metadataEnrichment: { enabled: true, namespaceSelector },
}

/** Tokens, and a namespace that is older than the DynaKube. */
async function prepare({ client, world }: TenantUser): Promise<void> {
  for (const [name, labels] of [[NAMESPACE, {}] as const, ['shop', TEAM] as const]) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  }
  await addServiceAccounts(client, NAMESPACE)
  await addCsiDriver(client, NAMESPACE)
  await addTokens({ client, world })
}

/** A namespace as the API server stores it after the webhook, and its first pod a moment later. */
async function openNamespace({ client }: TenantUser, name: string): Promise<void> {
  const labels = await admitNamespace(client, name, TEAM)
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  await admitPod(client, name, 'injected')
}

/**
 * A DynaKube, a namespace that is new, a copy that is deleted, a namespace that gets another name, one that leaves, and
 * the end of the DynaKube. In between the webhook admits pods.
 *
 * @example
 * npm run explore -- --operator dynatrace-injection
 */
export const exploration: Exploration<TenantWorld> = {
  operator: {
    ...dynatraceUnderTest,
    name: 'dynatrace-injection',
    walksStates: false,
    prepare,
    sharedObjects: [
      { resource: 'namespaces', fields: ['metadata.labels', 'metadata.annotations'] },
      { resource: 'secrets', fields: ['*'] },
    ],
    // The webhook is a user here: it labels namespaces, and copies Secrets before the operator does.
    leavesBehind: [
      'namespaces * metadata.annotations.dynatrace.com/updated-via-operator',
      `namespaces * metadata.labels.${INSTANCE_LABEL}`,
    ],
  },
  scenario: {
    name: 'namespaces of a DynaKube',
    steps: [
      {
        name: 'create',
        act: ({ client }) =>
          client.create(DynaKubes, {
            apiVersion: 'dynatrace.com/v1beta6',
            kind: 'DynaKube',
            metadata: key,
            spec: SPEC,
          }),
        rest: true,
      },
      { name: 'admit a pod', act: ({ client }) => admitPod(client, 'shop', 'injected') },
      { name: 'open another namespace', act: (user) => openNamespace(user, 'market') },
      {
        name: 'delete a copied Secret and admit a pod immediately',
        act: async ({ client }) => {
          await client.delete(Secrets, { namespace: 'market', name: FIXED_NAMES.bootstrapperConfig })
          await admitPod(client, 'market', 'injected')
          // The operator does not watch copies: it takes this one over with its next reconcile.
          const patch = { metadata: { labels: { reconciled: 'again' } } }
          await client.patch(Namespaces, { name: 'market' }, { type: 'merge', patch })
        },
      },
      {
        name: 'rename the namespace',
        act: async (user) => {
          await user.client.delete(Namespaces, { name: 'market' })
          await openNamespace(user, 'bazaar')
        },
      },
      {
        name: 'delete a namespace',
        act: async ({ client }) => {
          const labels = await admitNamespace(client, 'shop', { team: 'other', [INSTANCE_LABEL]: 'cluster' })
          const patch = { metadata: { labels: { team: 'other', [INSTANCE_LABEL]: labels[INSTANCE_LABEL] ?? null } } }
          await client.patch(Namespaces, { name: 'shop' }, { type: 'merge', patch })
        },
      },
      {
        name: 'delete, and admit a pod where the label may still be',
        act: async ({ client }) => {
          await client.delete(DynaKubes, key)
          await admitPod(client, 'bazaar', 'any')
        },
      },
    ],
  },
}
