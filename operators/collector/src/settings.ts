/** The settings of the operator: where the charts of each cluster come from. */
import { type Problem, toStructural, validate } from '@reeve/crd'
import { type Static, Type } from 'typebox'
import { parse } from 'yaml'

const credentials = Type.Optional(
  Type.Object(
    { namespace: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) },
    { description: 'A Secret with username and password, token, ca.crt, tls.crt, tls.key.' },
  ),
)

const source = Type.Object({
  type: Type.String({ pattern: '^(repository|oci|directory)$', description: 'repository, oci or directory' }),
  location: Type.String({
    minLength: 1,
    description: 'A chart repository (https://…), a registry and folder (oci://…), or a folder of chart folders.',
  }),
  credentials,
  plainHttp: Type.Optional(Type.Boolean({ description: 'For a local registry without TLS.' })),
})

const settings = Type.Object({
  clusters: Type.Record(Type.String(), source, { description: 'Chart sources by the names that spec.cluster uses.' }),
  chartOverrides: Type.Optional(
    Type.Boolean({ description: 'Allow Collectors to use their own chart source. @default false' }),
  ),
  defaultServiceAccount: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The ServiceAccount of the target namespace that Helm acts as, unless a Collector names one. @default collector',
    }),
  ),
  serviceAccounts: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: 'Further names that spec.serviceAccountName may have; "*" allows any.',
    }),
  ),
  createdNamespaces: Type.Optional(
    Type.Object(
      {
        clusterRole: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'Create the default ServiceAccount with the namespace, and bind this ClusterRole to it.',
          }),
        ),
        labels: Type.Optional(
          Type.Record(Type.String(), Type.String(), {
            description: 'Labels besides those of the operator. @default pod-security.kubernetes.io/enforce: baseline',
          }),
        ),
      },
      { description: 'Namespaces that are created for Collectors of administrators.' },
    ),
  ),
  allowedKinds: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]*([.][-.a-z0-9]+)?$' }), {
      description:
        'Kinds that charts may render outside of the namespace of the release, or cluster-scoped ones, such as ' +
        'PriorityClass.scheduling.k8s.io. The account still needs the rights.',
    }),
  ),
  protectedNamespaces: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-z0-9][-a-z0-9]*\\*?$' }), {
      description: 'Namespaces that no Collector may target, besides kube-*; a name that ends in * is a prefix.',
    }),
  ),
})

const SCHEMA = toStructural(settings)

/** Where the charts of a cluster come from; each collector is a chart of that name in it. */
export type ClusterSource = Static<typeof source>
/** See `docs/collector.md`. */
export type CollectorSettings = Static<typeof settings>

/** The settings are not valid; the message lists every field and its remedy. Thrown at start-up. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly code = 'COLLECTOR_SETTINGS'
}

/**
 * Reads settings from YAML.
 *
 * *Errors*: {@link SettingsError}.
 *
 * @example
 * parseSettings('clusters: {development: {type: repository, location: https://charts.example.com}}')
 */
export function parseSettings(text: string): CollectorSettings {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw new SettingsError('the settings are not valid YAML', { cause: error })
  }
  const problems = validate(SCHEMA, value)
  if (problems.length > 0) throw new SettingsError(`the settings are not valid: ${problems.map(sentence).join('; ')}`)
  // Just validated against the schema that the type comes from.
  return value as CollectorSettings
}

function sentence({ field, message }: Problem): string {
  return field === '' ? message : `${field}: ${message}`
}
