/** Validates what a schema cannot express. Used by the webhook, the controller and the command line. */
import { applyDefaults, objectSchema, type Problem, validate } from '@reeve/crd'
import semver from 'semver'
import { type Collector, CollectorCrd, type CollectorSpec } from './api/collector.ts'
import { decodeConfiguration } from './decode-configuration.ts'
import { isNamespaceName, MAX_RELEASE_NAME_LENGTH, releaseNameOf } from './release-key.ts'
import type { CollectorSettings } from './settings.ts'
import { allowedAccounts } from './tenancy/service-account.ts'

const SCHEMA = objectSchema(CollectorCrd, 'v1alpha')

/** What the rules depend on. */
export interface ValidationRules {
  /** The known chart sources. Absent: not checked. */
  readonly clusters?: readonly string[]
  /** Whether `spec.collector.chart` may be used. @default true */
  readonly areChartOverridesAllowed?: boolean
  /** The names that `spec.serviceAccountName` may have. Absent: any. */
  readonly serviceAccounts?: readonly string[] | undefined
}

/**
 * Checks a Collector against its schema and further rules. All problems are reported together, each
 * with its field and the remedy.
 *
 * @example
 * const problems = validateCollector(collector, { clusters: ['development', 'production'] })
 */
export function validateCollector(collector: Collector, rules: ValidationRules = {}): readonly Problem[] {
  const shape = validate(SCHEMA, collector)
  // A rule is applied only to fields of the right shape: one mistake, one message.
  const isSound = (field: string) =>
    !shape.some((problem) => field.startsWith(problem.field) || problem.field.startsWith(field))
  const { spec } = collector
  const when = (field: string, check: () => readonly Problem[]) => (isSound(field) ? check() : [])
  return [
    ...shape,
    ...when('spec.collector.configuration', () => checkConfiguration(spec)),
    ...when('spec.collector.version', () => checkVersion(spec)),
    ...when('spec.collector.chart', () => checkChart(spec, rules)),
    ...when('spec.tenant.reference', () => checkNamespace(spec)),
    ...when('spec.tenant.instance', () => (isSound('spec.collector.name') ? checkReleaseName(spec) : [])),
    ...when('spec.serviceAccountName', () => checkServiceAccount(spec, rules)),
    ...when('spec.cluster', () => checkCluster(spec, rules)),
  ]
}

/**
 * A Collector with the defaults of its schema filled in, as the server would store it.
 *
 * @example
 * validateCollector(completeCollector(written))
 */
export function completeCollector(collector: Collector): Collector {
  return applyDefaults(SCHEMA, collector)
}

function checkConfiguration({ collector }: CollectorSpec): readonly Problem[] {
  const { problem } = decodeConfiguration(collector.configuration)
  return problem === undefined ? [] : [problem]
}

function checkVersion({ collector: { version } }: CollectorSpec): readonly Problem[] {
  if (version === '' || semver.validRange(version) !== null) return []
  const message = `"${version}" is neither a version nor a range: write it like 1.2.3 or ^1.2, or leave it empty`
  return [{ field: 'spec.collector.version', message }]
}

function checkChart({ collector: { chart } }: CollectorSpec, rules: ValidationRules): readonly Problem[] {
  if (chart === undefined) return []
  const field = 'spec.collector.chart'
  if (rules.areChartOverridesAllowed === false) {
    return [
      {
        field,
        message:
          'is not allowed by the settings of the operator: remove it, or ask the administrator for chartOverrides',
      },
    ]
  }
  const scheme = chart.type === 'oci' ? 'oci://' : 'https://'
  return [
    ...(chart.url.startsWith(scheme)
      ? []
      : [{ field: `${field}.url`, message: `does not start with ${scheme}, as type ${chart.type} needs` }]),
    ...(chart.type === 'url' && chart.digest === undefined
      ? [{ field: `${field}.digest`, message: 'is missing: a chart at a plain URL must be pinned by its digest' }]
      : []),
  ]
}

function checkNamespace({ tenant: { reference } }: CollectorSpec): readonly Problem[] {
  const field = 'spec.tenant.reference'
  const namespace = reference.toLowerCase()
  if (!isNamespaceName(namespace)) {
    return [
      { field, message: `"${reference}" is not a valid namespace name: use letters, digits, and dashes between them` },
    ]
  }
  return []
}

function checkReleaseName(spec: CollectorSpec): readonly Problem[] {
  const name = releaseNameOf(spec)
  if (name.length <= MAX_RELEASE_NAME_LENGTH) return []
  const message =
    `makes the release name "${name}", of ${name.length} characters: Helm allows ${MAX_RELEASE_NAME_LENGTH}; ` +
    'shorten it or spec.collector.name'
  return [{ field: 'spec.tenant.instance', message }]
}

function checkServiceAccount(
  { serviceAccountName: name }: CollectorSpec,
  { serviceAccounts }: ValidationRules,
): readonly Problem[] {
  if (name === undefined || serviceAccounts === undefined || serviceAccounts.includes(name)) return []
  const message = `"${name}" is not allowed by the settings of the operator: use one of ${serviceAccounts.join(', ')}`
  return [{ field: 'spec.serviceAccountName', message }]
}

/** The rules that follow from the settings of the operator. */
export function validationRules(settings: CollectorSettings): ValidationRules {
  return {
    clusters: Object.keys(settings.clusters),
    areChartOverridesAllowed: settings.chartOverrides ?? false,
    serviceAccounts: allowedAccounts(settings),
  }
}

function checkCluster({ cluster }: CollectorSpec, { clusters }: ValidationRules): readonly Problem[] {
  if (clusters === undefined || clusters.includes(cluster)) return []
  const known = clusters.length === 0 ? 'the operator has no chart sources' : `use one of ${clusters.join(', ')}`
  return [{ field: 'spec.cluster', message: `"${cluster}" is unknown: ${known}` }]
}
