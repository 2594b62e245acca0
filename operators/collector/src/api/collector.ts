/** The Collector resource: what a user writes, and what the operator reports. */
import { conditions, defineCrd, type ObjectOf, oneOf } from '@reeve/crd'
import { type Static, Type } from 'typebox'

/** Where a Collector stands, in one word; what `kubectl get` shows. */
export const PHASES = ['Progressing', 'Available', 'Degraded', 'Suspended', 'Deleting'] as const

/**
 * Most bytes of a configuration, decoded. The record of a release, with its chart, must fit into a Secret of 1 MiB.
 */
export const MAX_CONFIGURATION_BYTES = 256 * 1024

const DNS_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'

const name = (description: string) =>
  Type.String({ minLength: 1, maxLength: 253, description: `${description} Lower-case letters, digits, - and dots.` })

const secretName = (description: string) =>
  Type.String({ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$', description })

const configurationFrom = Type.Object(
  {
    secretName: secretName('The Secret, in the namespace of the Collector.'),
    key: Type.String({
      minLength: 1,
      default: 'values.yaml',
      description: 'Its key; contains YAML, not Base64 of YAML.',
    }),
  },
  { description: 'Values from a Secret, laid over those of configuration: for passwords and the like.' },
)

const chart = Type.Object(
  {
    type: oneOf(['repository', 'oci', 'url'], { description: 'What the address leads to.' }),
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'A chart repository, a chart in a registry (oci://…), or an archive (https://….tgz).',
    }),
    name: Type.Optional(name('Name of the chart in the repository; without it, the name of the collector.')),
    digest: Type.Optional(
      Type.String({
        pattern: '^sha256:[0-9a-f]{64}$',
        description: 'The only bytes to accept; an archive at an address needs it.',
      }),
    ),
    credentialsSecretName: Type.Optional(
      secretName(
        'A Secret in the namespace of the Collector with username and password, token, ca.crt, tls.crt, tls.key.',
      ),
    ),
  },
  { description: 'Where the chart comes from, instead of the source of the cluster. The operator has to allow it.' },
)

const collector = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 53,
      pattern: DNS_LABEL,
      description: 'Which collector: the name of its chart, and the first half of the name of the release.',
    }),
    version: Type.String({
      maxLength: 128,
      default: '',
      description: 'Version of the chart, or a range such as ^1.2. Empty: the newest by semantic version.',
    }),
    configuration: Type.String({
      // Base64 takes four characters for three bytes.
      maxLength: Math.ceil(MAX_CONFIGURATION_BYTES / 3) * 4,
      default: '',
      description: 'Values for the chart: Base64 of a YAML map. Empty: the defaults of the chart.',
    }),
    configurationFrom: Type.Optional(configurationFrom),
    chart: Type.Optional(chart),
  },
  { description: 'What to install.' },
)

const tenant = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 253, description: 'How other systems call the tenant.' }),
    reference: Type.String({
      minLength: 1,
      maxLength: 63,
      description:
        'In lower case, the namespace that the release goes to: that of the Collector, or one that accepts Collectors ' +
        'of that namespace. For Collectors of administrators, any of a tenant, which is created when it is missing.',
    }),
    instance: Type.String({
      minLength: 1,
      maxLength: 53,
      pattern: DNS_LABEL,
      description: 'Distinguishes releases of one collector: the second half of the release name.',
    }),
  },
  { description: 'The tenant that owns the release.' },
)

const spec = Type.Object(
  {
    collector,
    tenant,
    serviceAccountName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$',
        description:
          'The ServiceAccount of the namespace of the release that Helm acts as: the release can do what it may do. ' +
          'Without it, the default of the operator.',
      }),
    ),
    cluster: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Which of the chart sources in the settings of the operator to use, such as production.',
    }),
    suspend: Type.Boolean({
      default: false,
      description: 'Do not change the release. A deletion is still processed.',
    }),
    rollback: Type.Object(
      {
        onFailure: Type.Boolean({
          default: true,
          description: 'Return to the last good revision when an upgrade fails or does not become ready.',
        }),
      },
      { default: {}, description: 'What to do about an upgrade that fails.' },
    ),
    drift: oneOf(['Heal', 'Report'], {
      default: 'Report',
      description:
        'What to do when objects of the release are missing or were changed: restore them, or only report it.',
    }),
  },
  { description: 'The release that should be there.' },
)

const failure = (description: string) =>
  Type.Object(
    {
      reason: Type.String({ description: 'One word that programs may branch on.' }),
      message: Type.String(),
      time: Type.String({ format: 'date-time' }),
      attempts: Type.Integer({ description: 'How often the same has failed in a row.' }),
      chartDigest: Type.Optional(Type.String({ description: 'What was tried.' })),
      valuesDigest: Type.Optional(Type.String({ description: 'What was tried.' })),
    },
    { description },
  )

const lastFailure = failure('Why the last attempt failed. Stays until an attempt succeeds.')

const text = (description: string) => Type.Optional(Type.String({ description }))

const status = Type.Object(
  {
    phase: Type.Optional(oneOf(PHASES, { description: 'Where the Collector stands, in one word.' })),
    observedGeneration: Type.Optional(Type.Integer({ description: 'The generation this status is about.' })),
    releaseName: text('Name of the Helm release.'),
    namespace: text('Namespace of the Helm release.'),
    releases: Type.Optional(
      Type.Array(Type.Object({ namespace: Type.String(), name: Type.String() }), {
        description:
          'Every release that was created for the Collector and may still exist. Removed when it is deleted.',
      }),
    ),
    revision: Type.Optional(Type.Integer({ description: 'Revision of the release, as helm history shows it.' })),
    chart: text('Chart of that revision, as helm list shows it.'),
    chartVersion: text('Version of that chart.'),
    chartDigest: text('Digest of that chart; absent if the operator did not create the revision.'),
    valuesDigest: text('Digest of the values of that revision.'),
    lastFailure: Type.Optional(lastFailure),
    rolledBack: Type.Optional(
      failure('Why the release was rolled back. Kept, whatever else fails, until chart or values change.'),
    ),
    conditions: Type.Optional(
      conditions({ description: 'Ready, Available, Progressing and Degraded, each with reason and message.' }),
    ),
  },
  { description: 'What the operator observed.' },
)

const v1alpha = {
  description: 'A collector of a tenant: one Helm release in the namespace of the tenant.',
  spec,
  status,
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'Chart', type: 'string', jsonPath: '.status.chart' },
    { name: 'Revision', type: 'integer', jsonPath: '.status.revision' },
    { name: 'Tenant', type: 'string', jsonPath: '.spec.tenant.reference' },
    { name: 'Release', type: 'string', jsonPath: '.status.releaseName', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
} as const

/** The CRD `collectors.example.com`. */
export const CollectorCrd = defineCrd({
  group: 'example.com',
  kind: 'Collector',
  plural: 'collectors',
  scope: 'Namespaced',
  versions: { v1alpha },
})

/** For clients, informers and listers. */
export const Collectors = CollectorCrd.resource('v1alpha')

export type Collector = ObjectOf<typeof v1alpha>
export type CollectorSpec = Static<typeof spec>
export type CollectorStatus = Static<typeof status>
export type LastFailure = Static<typeof lastFailure>
export type Phase = (typeof PHASES)[number]
