/** The Dynatrace operator and what its users do, described for fault exploration. */
import { Namespaces, type ObjectKey, Secrets } from '@reeve/kube'
import type { Exploration } from '@reeve/simulation'
import { type DynaKubeSpec, DynaKubes } from './api/latest.ts'
import { FULL_SPEC } from './api/testing/full-spec.ts'
import { encodeSecret } from './controllers/secret-data.ts'
import { dynatraceUnderTest, NAMESPACE } from './exploration/dynatrace-under-test.ts'
import { type EnvironmentWorld, TENANT } from './exploration/environment-world.ts'
import { addServiceAccounts } from './exploration/service-accounts.ts'

const key: ObjectKey = { namespace: NAMESPACE, name: 'cluster' }

const FULL: Partial<DynaKubeSpec> = {
  ...FULL_SPEC,
  tokens: 'tokens',
  // A day: what is asked again, and written down, after hours would be no rest.
  dynatraceApiRequestThreshold: 1_440,
  metadataEnrichment: { enabled: true },
}

const edit = (spec: Readonly<Record<string, unknown>>) => ({ type: 'merge', patch: { spec } }) as const

/**
 * A DynaKube with everything, which becomes one for hosts only, and goes.
 *
 * @example
 * npm run explore -- --operator dynatrace --pattern T1,T2,T9
 */
export const exploration: Exploration<EnvironmentWorld> = {
  operator: dynatraceUnderTest,
  scenario: {
    name: 'life of a DynaKube',
    steps: [
      {
        name: 'install',
        async act({ client, world }) {
          for (const name of [NAMESPACE, 'shop']) {
            await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
          }
          await addServiceAccounts(client, NAMESPACE)
          const { tokens } = world.tenant
          const values = ['apiToken', 'dataIngestToken'].map((name) => [name, tokens.get(name)?.value ?? ''] as const)
          await client.create(Secrets, {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { namespace: NAMESPACE, name: 'tokens' },
            data: encodeSecret(Object.fromEntries(values)),
          })
        },
      },
      {
        name: 'create',
        act: ({ client, world }) =>
          client.create(DynaKubes, {
            apiVersion: 'dynatrace.com/v1beta6',
            kind: 'DynaKube',
            metadata: key,
            spec: { apiUrl: world.environment.url(TENANT), ...FULL },
          }),
        rest: true,
      },
      {
        name: 'monitor hosts only',
        act: ({ client }) =>
          client.patch(
            DynaKubes,
            key,
            edit({
              oneAgent: { cloudNativeFullStack: null, hostMonitoring: {} },
              metadataEnrichment: null,
              activeGate: null,
              extensions: null,
              telemetryIngest: null,
              kspm: null,
            }),
          ),
      },
      { name: 'delete', act: ({ client }) => client.delete(DynaKubes, key) },
    ],
  },
}
