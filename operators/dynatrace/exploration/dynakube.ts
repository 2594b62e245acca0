/** The Dynatrace operator and what its users do, described for fault exploration. */
import { isDeepStrictEqual } from 'node:util'
import { Namespaces, type ObjectKey } from '@reeve/kube'
import type { Exploration, OperatorUnderTest, User } from '@reeve/simulation'
import { type DynaKubeSpec, DynaKubes } from '../src/api/latest.ts'
import { EXAMPLE_TEMPLATES, FULL_SPEC } from '../src/api/testing/full-spec.ts'
import { addCsiDriver } from './csi-driver.ts'
import { dynatraceUnderTest, NAMESPACE } from './dynatrace-under-test.ts'
import { addServiceAccounts } from './service-accounts.ts'
import { AUTHORITY, TENANT, type TenantWorld } from './tenant-world.ts'
import { addTokens } from './tokens.ts'

const key: ObjectKey = { namespace: NAMESPACE, name: 'cluster' }

/** The least that a DynaKube says here. */
const PLAIN: DynaKubeSpec = {
  apiUrl: `https://${AUTHORITY}/e/${TENANT}/api`,
  tokens: 'tokens',
  // A day: calls that are repeated and recorded after hours would not be a rest.
  dynatraceApiRequestThreshold: 1_440,
  templates: EXAMPLE_TEMPLATES,
}

/**
 * For these the operator creates settings in the tenant once per cluster. From then on they belong to the user, so they
 * outlive the feature and the DynaKube: every walked state has them, because a state without them would differ from one
 * that was reached by removing them.
 */
const LASTING = {
  activeGate: { capabilities: ['kubernetes-monitoring'] },
  logMonitoring: {},
  kspm: { mappedHostPaths: ['/etc'] },
}

const FULL: DynaKubeSpec = { ...FULL_SPEC, ...PLAIN, metadataEnrichment: { enabled: true } }

/**
 * The other modes of monitoring, each with the least beside it; fields that they share with the full one are tried
 * there.
 */
const OTHER_MODES: readonly DynaKubeSpec[] = [
  { classicFullStack: { rollingUpdate: {}, oneAgentResources: {} } },
  { hostMonitoring: { rollingUpdate: {}, oneAgentResources: {} } },
  { applicationMonitoring: { namespaceSelector: {}, initResources: {} } },
].map((oneAgent) => ({ ...PLAIN, ...LASTING, oneAgent }))

/** What users do before the first DynaKube. */
async function prepare({ client, world }: User<TenantWorld>): Promise<void> {
  for (const name of [NAMESPACE, 'shop']) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  await addServiceAccounts(client, NAMESPACE)
  await addCsiDriver(client, NAMESPACE)
  await addTokens({ client, world })
}

/** Settings of `declared-states` for DynaKubes. Pairs of features are toggled by a separate suite. */
const walks: Pick<OperatorUnderTest, 'walkedNamespace' | 'walkedFields' | 'exampleSpecs' | 'complete' | 'accepts'> = {
  walkedNamespace: NAMESPACE,
  walkedFields: [
    'oneAgent.hostMonitoring.labels',
    'activeGate.replicas',
    'activeGate.labels',
    'extensions.prometheus',
    'telemetryIngest.serviceName',
    'metadataEnrichment.enabled',
    'networkZone',
  ],
  exampleSpecs: [FULL, ...OTHER_MODES],
  complete: (spec) => {
    const { activeGate, telemetryIngest } = spec as Partial<DynaKubeSpec>
    return {
      ...spec,
      ...PLAIN,
      ...LASTING,
      activeGate: { ...activeGate, ...LASTING.activeGate },
      // No name of a Service begins with a digit.
      ...(telemetryIngest?.serviceName && {
        telemetryIngest: { serviceName: `ingest-${telemetryIngest.serviceName}` },
      }),
    }
  },
  // How to reach the tenant is not for walks, nor is what leaves settings there for good, on purpose. All other optional
  // fields outside lists take part, 250 of 263.
  accepts: (spec) => {
    const { apiUrl, tokens, dynatraceApiRequestThreshold, templates, ...rest } = spec as Partial<DynaKubeSpec>
    const isPlain = isDeepStrictEqual(
      { apiUrl, tokens, dynatraceApiRequestThreshold, templates: EXAMPLE_TEMPLATES },
      PLAIN,
    )
    // Without their images nothing of them could run.
    const haveImages = Object.entries(EXAMPLE_TEMPLATES).every(([name, { imageRef }]) => {
      const { repository, tag } = templates?.[name as keyof typeof EXAMPLE_TEMPLATES]?.imageRef ?? {}
      return isDeepStrictEqual({ repository, tag }, imageRef)
    })
    const { activeGate, logMonitoring, kspm } = rest
    const isMonitored = activeGate?.capabilities?.includes('kubernetes-monitoring') ?? false
    return isPlain && haveImages && isMonitored && logMonitoring !== undefined && kspm !== undefined
  },
}

const edit = (spec: Readonly<Record<string, unknown>>) => ({ type: 'merge', patch: { spec } }) as const

/**
 * A DynaKube with everything, which becomes one for hosts only, and goes.
 *
 * @example
 * npm run explore -- --operator dynatrace --pattern crash-after-write,failed-request
 */
export const exploration: Exploration<TenantWorld> = {
  operator: {
    ...dynatraceUnderTest,
    ...walks,
    prepare,
    // These names are reserved for the operator in monitored namespaces: init containers mount what is there.
    adopts: ['secrets */dynatrace-bootstrapper-config', 'secrets */dynatrace-bootstrapper-certs'],
    sharedObjects: [{ resource: 'namespaces', fields: ['metadata.labels', 'metadata.annotations'] }],
    // Tokens that are made once: a user may set another one. Here they are alike in every run.
    keepsValues: ['extensions', 'kspm'].map((feature) => `secrets dynatrace/*-${feature}-token`),
    leavesBehind: [
      // Signals to the webhook, which is not part of this exploration and would remove it, that the namespace is
      // mapped.
      'namespaces * metadata.annotations.dynatrace.com/updated-via-operator',
      'outside * builtin:cloud.kubernetes',
      'outside * builtin:logmonitoring.log-storage-settings',
      'outside * builtin:kubernetes.security-posture-management',
    ],
  },
  scenario: {
    name: 'life of a DynaKube',
    steps: [
      {
        name: 'create',
        act: ({ client }) =>
          client.create(DynaKubes, {
            apiVersion: 'dynatrace.com/v1beta6',
            kind: 'DynaKube',
            metadata: key,
            spec: FULL,
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
