/** Resolves the desired chart and values of a Collector. */
import { type ResolvedChart, valuesDigest } from '@reeve/helm'
import { ownValue } from '@reeve/http'
import { isForbidden, isNotFound, type Namespace, Namespaces, Secrets } from '@reeve/kube'
import semver from 'semver'
import type { Collector } from '../api/collector.ts'
import { chartSourceOf } from '../chart-source.ts'
import type { Ingredients } from '../decision/revision-marks.ts'
import { decodeConfiguration, decodeValues, mergeValues, type Values } from '../decode-configuration.ts'
import { releaseKeyOf } from '../release-key.ts'
import { accountOf, as, describeAccount } from '../tenancy/service-account.ts'
import { targetProblem } from '../tenancy/target-namespace.ts'
import { validateCollector, validationRules } from '../validate-collector.ts'
import type { CollectorContext } from './collector-context.ts'
import { type Failure, failureOf } from './failure.ts'

/** The desired chart and values of a release. */
export interface DesiredRelease {
  readonly chart: ResolvedChart
  readonly values: Values
  /** The values contain those of a Secret. */
  readonly areValuesSecret: boolean
  readonly ingredients: Ingredients
}

/** Either the one or the other. */
export type Resolution =
  | { readonly desired: DesiredRelease; readonly failure?: undefined }
  | { readonly desired?: undefined; readonly failure: Failure }

/** Validates, decodes, and fetches the chart. Returns problems of a Collector or its dependencies as a value. */
export async function resolveRelease(context: CollectorContext): Promise<Resolution> {
  const { primary: collector, cache, client, signal } = context
  const { settings, charts } = context.dependencies
  const problems = validateCollector(collector, validationRules(settings))
  if (problems.length > 0) {
    const message = problems.map(({ field, message }) => `${field}: ${message}`).join('; ')
    return { failure: { reason: 'InvalidSpec', message } }
  }
  // Nothing is read, fetched or done for a Collector that may not have its target.
  const refusal = targetFailure(context, cache.get(Namespaces, { name: releaseKeyOf(collector.spec).namespace }))
  if (refusal !== undefined) return { failure: refusal }
  const { values = {} } = decodeConfiguration(collector.spec.collector.configuration)
  const secret = await secretValues(collector, context)
  if (secret.failure !== undefined) return { failure: secret.failure }
  const merged = mergeValues(values, secret.values)
  try {
    const source = await chartSourceOf(collector, { client, settings, signal })
    const chart = await charts.resolve(source, { signal })
    const wanted = collector.spec.collector.version
    // A folder has one version, even if another one is requested.
    if (wanted !== '' && !semver.satisfies(chart.version, wanted, { includePrerelease: true })) {
      const message = `spec.collector.version: ${chart.name} ${wanted} does not exist, only ${chart.version}`
      return { failure: { reason: 'HelmChartNotFound', message } }
    }
    const ingredients = { chartDigest: chart.digest, valuesDigest: valuesDigest(merged) }
    const areValuesSecret = collector.spec.collector.configurationFrom !== undefined
    return { desired: { chart, values: merged, areValuesSecret, ingredients } }
  } catch (error) {
    signal.throwIfAborted()
    return { failure: failureOf(error) }
  }
}

/** Why a Collector may not target a namespace; nothing when it may. */
export function targetFailure(
  { primary, dependencies }: Pick<CollectorContext, 'primary' | 'dependencies'>,
  target: Namespace | undefined,
): Failure | undefined {
  const problem = targetProblem(primary, target, dependencies.tenancy)
  return problem && { reason: 'TargetNotAllowed', message: `${problem.field}: ${problem.message}` }
}

type SecretValues =
  | { readonly values: Values; readonly failure?: undefined }
  | { readonly values?: undefined; readonly failure: Failure }

/**
 * Read as the account, in the namespace of the Collector: its author gets no Secret through the operator that the account
 * may not read.
 */
async function secretValues({ metadata, spec }: Collector, context: CollectorContext): Promise<SecretValues> {
  const from = spec.collector.configurationFrom
  if (from === undefined || metadata.namespace === undefined) return { values: {} }
  const field = 'spec.collector.configurationFrom'
  const key = { namespace: metadata.namespace, name: from.secretName }
  const account = { namespace: metadata.namespace, name: accountOf(spec, context.dependencies.settings) }
  const refuse = (message: string) => ({ failure: { reason: 'InvalidConfiguration', message: `${field}: ${message}` } })
  try {
    const { data } = await context.clientAs(as(account).impersonate).get(Secrets, key, { signal: context.signal })
    const packed = ownValue(data, from.key)
    if (packed === undefined) return refuse(`Secret ${from.secretName} has no key ${from.key}: add it`)
    const { values, problem } = decodeValues(Buffer.from(packed, 'base64'), field)
    return problem === undefined ? { values } : refuse(problem.message)
  } catch (error) {
    if (isNotFound(error)) return refuse(`Secret ${from.secretName} does not exist in ${key.namespace}: create it`)
    if (isForbidden(error))
      return refuse(`${describeAccount(account)} may not read Secret ${from.secretName}: grant it the right`)
    throw error
  }
}
