/** The webhook: its pods run, its certificate is valid and trusted, and the API server reaches it. */
import {
  ApiError,
  Deployments,
  isForbidden,
  MutatingWebhookConfigurations,
  Pods,
  Secrets,
  Services,
  type Stored,
  ValidatingWebhookConfigurations,
  type WebhookClientConfig,
} from '@reeve/kube'
import { coversHosts, isSignedBy, parseCertificates } from '@reeve/runtime/certificates'
import { type DynaKube, DynaKubes } from '../../../api/latest.ts'
import { decodeSecret } from '../../../controllers/rendering/secret-data.ts'
import { CERTIFICATES_SECRET, WEBHOOK_NAME, webhookHost } from '../../../installed-names.ts'
import { bounded, find, readRemedy, reporterOf, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

const HOUR_MS = 3_600_000
const VALIDATING = ValidatingWebhookConfigurations.kind
/** On pods of the Operator Lifecycle Manager, which issues certificates itself. */
const OLM_ANNOTATION = 'olm.operatorNamespace'
/** The operator renews certificates 12 hours before their end; later it is not doing so. */
const RENEWAL_OVERDUE_MS = 6 * HOUR_MS

/** Checks the webhook. One that is registered by URL runs elsewhere: only the API server can tell about it. */
export async function checkWebhook(
  context: TroubleshootContext,
  dynakubes: readonly Stored<DynaKube>[],
): Promise<void> {
  const reporter = reporterOf(context, 'webhook')
  reporter.start('checking the webhook ...')
  const configurations = await readConfigurations(context, reporter)
  const isService = configurations.some(({ webhooks }) => webhooks.some(({ clientConfig }) => clientConfig?.service))
  if (isService || configurations.length === 0) {
    await checkDeployment(context, reporter)
    await checkCertificate(context, reporter, configurations)
  } else reporter.info('the webhook is registered by URL: its pods and its certificate are not looked for')
  const [dynakube] = dynakubes
  // The API server allows everything where no webhook validates: that says nothing about the webhook.
  const isValidated = configurations.some(({ kind, webhooks }) => kind === VALIDATING && webhooks.length > 0)
  if (dynakube !== undefined && isValidated) await checkReachable(context, reporter, dynakube)
}

interface Configuration {
  readonly kind: string
  readonly title: string
  readonly webhooks: readonly { readonly clientConfig?: WebhookClientConfig }[]
}

async function readConfigurations(
  context: TroubleshootContext,
  reporter: CheckReporter,
): Promise<readonly Configuration[]> {
  const found: Configuration[] = []
  for (const kind of [MutatingWebhookConfigurations, ValidatingWebhookConfigurations] as const) {
    const title = `the ${kind.kind} ${WEBHOOK_NAME}`
    const configuration = await find(context, kind, { name: WEBHOOK_NAME })
    if (configuration !== undefined) found.push({ kind: kind.kind, title, webhooks: configuration.webhooks ?? [] })
    else reporter.error(`${title} does not exist`, 'install or upgrade the chart')
  }
  return found
}

async function checkDeployment(context: TroubleshootContext, reporter: CheckReporter): Promise<void> {
  const { namespace } = context
  const name = `the Deployment ${namespace}/${WEBHOOK_NAME}`
  const deployment = await find(context, Deployments, { namespace, name: WEBHOOK_NAME })
  if (deployment === undefined) {
    reporter.error(`${name} does not exist: pods are not injected`, 'install or upgrade the chart')
    return
  }
  const wanted = deployment.spec?.replicas ?? 1
  const ready = deployment.status?.readyReplicas ?? 0
  const remedy = `look at its pods: kubectl describe pods -n ${namespace} -l internal.dynatrace.com/app=webhook`
  if (wanted === 0) reporter.error(`${name} is scaled to 0: pods are not injected`, 'scale it up')
  else if (ready === 0) reporter.error(`${name} has no ready pod: pods are not injected`, remedy)
  else if (ready < wanted) reporter.warning(`${name} has ${ready} of ${wanted} pods ready`, remedy)
  else reporter.ok(`all ${ready} pods of the webhook are ready`)
  if (ready > 0) await checkService(context, reporter)
}

/** By pods instead of endpoints, which the account of the operator may not read. */
async function checkService(context: TroubleshootContext, reporter: CheckReporter): Promise<void> {
  const { client, namespace } = context
  const title = `the Service ${namespace}/${WEBHOOK_NAME}`
  const service = await find(context, Services, { namespace, name: WEBHOOK_NAME })
  if (service === undefined) {
    reporter.error(`${title} does not exist: the API server cannot call the webhook`, 'install or upgrade the chart')
    return
  }
  const selector = Object.entries(service.spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`)
  const { items } = await client.listAll(Pods, { namespace, labelSelector: selector.join(','), ...bounded(context) })
  const isReady = items.some(({ status }) =>
    status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
  )
  if (selector.length > 0 && isReady) reporter.ok(`${title} leads to a ready pod`)
  else {
    const remedy = `upgrade the chart, so that Service and Deployment have labels of the same release; compare: kubectl get pods -n ${namespace} --show-labels`
    reporter.error(`${title} has no endpoints: its selector matches no ready pod`, remedy)
  }
}

async function checkCertificate(
  context: TroubleshootContext,
  reporter: CheckReporter,
  configurations: readonly Configuration[],
): Promise<void> {
  const { namespace, clock } = context
  const where = `the Secret ${namespace}/${CERTIFICATES_SECRET}`
  const renew = `check the log of the operator, or delete ${where} to have it issued again`
  const secret = await find(context, Secrets, { namespace, name: CERTIFICATES_SECRET })
  if (secret === undefined) {
    // Certificates of cert-manager or of the Operator Lifecycle Manager are not in this Secret.
    if (await areCertificatesProvided(context, configurations)) {
      reporter.info('the certificate of the webhook does not come from the operator: only its use is checked')
    } else
      reporter.error(
        `${where} does not exist: the webhook has no certificate`,
        'check that the operator runs; it creates the Secret',
      )
    return
  }
  const data = decodeSecret(secret.data)
  const [serving] = parsed(data['tls.crt'])
  const authorities = [...parsed(data['ca.crt']), ...parsed(data['ca.crt.old'])]
  if (serving === undefined || authorities.length === 0) {
    reporter.error(`${where} has no readable certificate in tls.crt and ca.crt`, renew)
    return
  }
  const leftMs = serving.expiresMs - clock.now()
  const expiry = new Date(serving.expiresMs).toISOString()
  if (leftMs <= 0) reporter.error(`the certificate of the webhook expired at ${expiry}`, renew)
  else if (leftMs < RENEWAL_OVERDUE_MS) reporter.warning(`the certificate of the webhook expires at ${expiry}`, renew)
  else if (!coversHosts(serving, [webhookHost(namespace)])) {
    reporter.error(`the certificate of the webhook is not for ${webhookHost(namespace)}`, renew)
  } else if (!authorities.some((authority) => isSignedBy(serving, authority))) {
    reporter.error('the certificate of the webhook is not signed by the authority next to it', renew)
  } else reporter.ok(`the certificate of the webhook is valid until ${expiry}`)
  const authority = data['ca.crt'] ?? ''
  for (const configuration of configurations) {
    if (bundlesOf([configuration]).every((bundle) => bundle.includes(authority.trim()))) {
      reporter.ok(`${configuration.title} trusts the certificate`)
    } else {
      const remedy = 'check the log of the operator, which writes caBundle'
      reporter.error(`${configuration.title} does not trust the authority of the certificate`, remedy)
    }
  }
}

/** Whether the webhook has certificates that the operator does not issue. */
async function areCertificatesProvided(
  context: TroubleshootContext,
  configurations: readonly Configuration[],
): Promise<boolean> {
  if (bundlesOf(configurations).some((bundle) => bundle === '')) return false
  const deployment = await find(context, Deployments, { namespace: context.namespace, name: WEBHOOK_NAME })
  const { metadata, spec } = deployment?.spec?.template ?? {}
  const variables = (spec?.containers ?? []).flatMap(({ env }) => env ?? [])
  const isProvided = variables.some(({ name, value }) => name === 'WEBHOOK_CERTIFICATES' && value === 'provided')
  return isProvided || metadata?.annotations?.[OLM_ANNOTATION] !== undefined || deployment === undefined
}

/** The authorities by which the API server recognizes the webhooks. */
function bundlesOf(configurations: readonly Configuration[]): readonly string[] {
  return configurations.flatMap(({ webhooks }) =>
    webhooks.map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString()),
  )
}

/** Has the API server validate a DynaKube as it is, without storing it: that calls the webhook. */
async function checkReachable(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: Stored<DynaKube>,
): Promise<void> {
  const { namespace, name } = dynakube.metadata
  try {
    await context.client.update(DynaKubes, dynakube, { dryRun: true, ...bounded(context) })
    reporter.ok('the API server reaches the webhook')
  } catch (error) {
    context.signal.throwIfAborted()
    const text = error instanceof Error ? error.message : String(error)
    if (error instanceof ApiError && /failed calling webhook|conversion webhook/.test(text)) {
      const remedy = `check network policies between the API server and the Service ${context.namespace}/${WEBHOOK_NAME}, and the findings above`
      reporter.error(`the API server cannot call the webhook: ${text}`, remedy)
    } else if (error instanceof ApiError && /admission webhook .* denied/.test(text)) {
      reporter.error(
        `the webhook rejects the DynaKube ${namespace}/${name} as it is: ${text}`,
        'change the field that it names',
      )
    } else if (isForbidden(error)) {
      reporter.warning(
        'whether the API server reaches the webhook is unknown: this account may not update DynaKubes',
        readRemedy(error),
      )
    } else reporter.failed('the API server cannot validate a DynaKube', error, readRemedy(error))
  }
}

function parsed(pem: string | undefined): ReturnType<typeof parseCertificates> {
  try {
    return parseCertificates(pem ?? '')
  } catch {
    // Reported as not readable.
    return []
  }
}
