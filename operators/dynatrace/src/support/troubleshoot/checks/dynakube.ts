/** One DynaKube: tokens, tenant, pull secret, images, proxy. */
import { Secrets, type Stored } from '@reeve/kube'
import { DOCKER_CONFIG_KEY, parseDockerConfig } from '@reeve/oci'
import { hasActiveGate } from '../../../api/dynakube/active-gate-facts.ts'
import { singlePullSecretName, tokensSecretName } from '../../../api/dynakube/names.ts'
import { needsOneAgentDaemonSet } from '../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { apiUrlProblem } from '../../../api/validation/rules/tenant.ts'
import {
  missingScopes,
  type TokenDemand,
  tokenDemands,
} from '../../../controllers/dynakube/components/tenant/token-scopes.ts'
import { decodeSecret, type SecretData } from '../../../controllers/rendering/secret-data.ts'
import { readTokens, type Tokens } from '../../../controllers/tenant-access/tokens.ts'
import { tenantAccess } from '../../../csi/provisioner/install/dynakube-access.ts'
import { isTenantUnavailable, refusalOf } from '../../../tenant/client/errors.ts'
import { createTenantClient, type TenantClient } from '../../../tenant/client/tenant-client.ts'
import { find, REQUEST_TIMEOUT_MS, reporterOf, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'
import { checkImages } from './images.ts'
import { checkProxy } from './proxy.ts'
import { checkReferences } from './references.ts'

/** Tokens of a tenant; what is around one by mistake makes the tenant reject it. */
const TOKEN_FORM = /^dt0[a-z]\d{2}\.\w+\.\w+$/
const UNAVAILABLE_REMEDY =
  'wait until the tenant, or what is in front of it, works again; the operator retries by itself and agents keep running'

/** Checks a DynaKube. A step that later ones build on ends the check of this DynaKube. */
export async function checkDynaKube(context: TroubleshootContext, dynakube: Stored<DynaKube>): Promise<void> {
  const title = `${dynakube.metadata.namespace}/${dynakube.metadata.name}`
  const reporter = reporterOf(context, 'dynakube')
  reporter.start(`checking if the DynaKube ${title} is valid ...`)
  const tokens = await checkTokens(context, reporter, dynakube)
  const urlProblem = apiUrlProblem(dynakube)
  // A wrong address rejects every token: that would be misleading.
  if (urlProblem !== undefined) {
    const remedy = 'create the DynaKube again with an apiUrl like https://abc12345.live.dynatrace.com/api'
    reporter.failed('the tenant cannot be used', new Error(urlProblem), remedy)
  } else if (tokens !== undefined) await checkTenant(context, reporter, dynakube, tokens)
  await checkPullSecret(context, reporter, dynakube)
  await checkReferences(context, reporter, dynakube)
  reportPhase(reporter, dynakube)
  reportDeletion(reporter, dynakube)
  if (reporter.errors === 0) reporter.ok(`the DynaKube ${title} is valid`)
  await checkImages(context, dynakube)
  await checkProxy(context, dynakube)
}

async function checkTokens(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: Stored<DynaKube>,
): Promise<Tokens | undefined> {
  const namespace = dynakube.metadata.namespace ?? ''
  const name = tokensSecretName(dynakube)
  try {
    const data = await secretData(context, namespace, name)
    const tokens = readTokens(dynakube, { namespace, secret: () => data })
    reporter.ok(`the Secret ${namespace}/${name} has the key apiToken`)
    return tokens
  } catch (error) {
    context.signal.throwIfAborted()
    reporter.failed('the tokens cannot be used', error, `check the Secret ${namespace}/${name}`)
    return undefined
  }
}

async function checkTenant(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: Stored<DynaKube>,
  tokens: Tokens,
): Promise<void> {
  const { client, env, logger, signal } = context
  const remedy = 'check spec.apiUrl, spec.proxy and spec.trustedCAs, and that this cluster may reach the tenant'
  try {
    const access = await tenantAccess({ dynakube, client, logger, signal })
    await using tenant = createTenantClient({ ...access, env })
    const isUsable = await checkScopes(context, reporter, dynakube, tokens, tenant)
    if (!isUsable) return
    await tenant.versions.latestAgent({ os: 'unix', type: 'default', flavor: 'default' }, limits(context))
    reporter.ok(`the tenant at ${new URL(access.apiUrl).host} responds`)
  } catch (error) {
    signal.throwIfAborted()
    // It responded: the way to it is not the problem.
    const isDown = isTenantUnavailable(error) && refusalOf(error) !== undefined
    reporter.failed('the tenant cannot be used', error, isDown ? UNAVAILABLE_REMEDY : remedy)
  }
}

/** Whether all tokens can be used. */
async function checkScopes(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: Stored<DynaKube>,
  tokens: Tokens,
  tenant: TenantClient,
): Promise<boolean> {
  const detectsHostAvailability = context.env.DT_HOST_AVAILABILITY_DETECTION !== 'false'
  const before = reporter.errors
  for (const demand of tokenDemands(dynakube, tokens, { detectsHostAvailability })) {
    const scopes = await scopesOf(context, reporter, dynakube, demand, tenant)
    if (scopes === undefined) continue
    for (const problem of missingScopes(demand, scopes)) reporter.failed('a token lacks scopes', problem, 'add them')
    const optional = demand.features.flatMap((feature) => feature.optional).filter((scope) => !scopes.includes(scope))
    if (optional.length > 0) {
      reporter.info(
        `${demand.key} lacks the optional scopes ${[...new Set(optional)].join(', ')}: some features stay off`,
      )
    }
  }
  if (reporter.errors === before) reporter.ok('the tokens are valid and have the scopes that are needed')
  return reporter.errors === before
}

/** The scopes of a token; `undefined` if the tenant rejects it, which is reported. */
async function scopesOf(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: DynaKube,
  { key, value }: TokenDemand,
  tenant: TenantClient,
): Promise<readonly string[] | undefined> {
  try {
    return await tenant.tokens.scopes(value, limits(context))
  } catch (error) {
    context.signal.throwIfAborted()
    if (refusalOf(error) === undefined || isTenantUnavailable(error)) throw error
    const where = `the Secret ${dynakube.metadata.namespace}/${tokensSecretName(dynakube)}`
    const text = error instanceof Error ? error.message : String(error)
    const remedy = TOKEN_FORM.test(value)
      ? `create a token in the tenant and write it to the key ${key} of ${where}; check that spec.apiUrl is that tenant`
      : `write the token alone to the key ${key} of ${where}, like dt0c01.ABC.XYZ: without quotes, prefix or base64`
    reporter.error(`the tenant rejects ${key}: ${text}`, remedy)
    return undefined
  }
}

async function checkPullSecret(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: Stored<DynaKube>,
): Promise<void> {
  const isNeeded = needsOneAgentDaemonSet(dynakube) || hasActiveGate(dynakube) || dynakube.spec.customPullSecret
  if (!isNeeded) return
  const namespace = dynakube.metadata.namespace ?? ''
  const name = singlePullSecretName(dynakube)
  const title = `the pull secret ${namespace}/${name}`
  const isCustom = Boolean(dynakube.spec.customPullSecret)
  const remedy = isCustom
    ? `create it with: kubectl create secret docker-registry ${name} -n ${namespace} ..., or correct spec.customPullSecret`
    : 'check the log of the operator, which creates it as soon as the tenant can be reached'
  const data = await secretData(context, namespace, name)
  if (data === undefined) reporter.error(`${title} does not exist`, remedy)
  else if (data[DOCKER_CONFIG_KEY] === undefined) reporter.error(`${title} has no key ${DOCKER_CONFIG_KEY}`, remedy)
  else {
    try {
      parseDockerConfig(data[DOCKER_CONFIG_KEY], title)
      reporter.ok(`${title} exists and can be read`)
    } catch (error) {
      const renew = 'delete it: the operator creates it again; if not, check its log'
      reporter.failed('images cannot be pulled', error, isCustom ? remedy : renew)
    }
  }
}

/** What the operator itself reports, if it is not content. */
function reportPhase(reporter: CheckReporter, { status }: DynaKube): void {
  if (status?.phase === undefined) {
    reporter.warning('the operator has not reconciled this DynaKube yet', 'check that the operator runs, and its log')
    return
  }
  if (status.phase !== 'Error') return
  const failing = (status.conditions ?? []).filter((condition) => condition.status === 'False' && condition.message)
  const causes = failing.map(({ type, message }) => `${type}: ${message}`).join('; ')
  const message = `the operator reports the phase Error${causes === '' ? '' : ` (${causes})`}`
  reporter.error(message, 'correct what the conditions name: kubectl describe dynakube')
}

/** A deletion that is not completed within seconds waits for someone. */
function reportDeletion(reporter: CheckReporter, { metadata }: Stored<DynaKube>): void {
  const { deletionTimestamp, finalizers = [], name } = metadata
  if (deletionTimestamp === undefined) return
  reporter.error(
    `the DynaKube is being deleted since ${deletionTimestamp}, and waits for the finalizers ${finalizers.join(', ')}`,
    `check the log of the operator; a finalizer of a program that does not run any more has to be removed: kubectl edit dynakube ${name}`,
  )
}

async function secretData(
  context: TroubleshootContext,
  namespace: string,
  name: string,
): Promise<SecretData | undefined> {
  const secret = await find(context, Secrets, { namespace, name })
  return secret && decodeSecret(secret.data)
}

const limits = ({ signal }: TroubleshootContext) => ({ signal, timeoutMs: REQUEST_TIMEOUT_MS })
