/** The WebApp operator in the demo: installed, running, with a sample. */
import { readFile } from 'node:fs/promises'
import { crdManifest } from '@reeve/crd'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  isApiError,
  type KubeClient,
  MutatingWebhookConfigurations,
  sleep,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import {
  createWebAppOperator,
  type WebApp,
  WebAppCrd,
  type WebAppOperator,
  WebApps,
  webhookConfigurations,
} from '@reeve/webapp'
import { parse } from 'yaml'

const FIELD_MANAGER = 'reeve-demo'
const CONFIGURATION = 'webapp-operator'
const NAMESPACE = 'default'

/** Installs the CRD and waits until it is served. */
export async function installWebAppCrd(client: KubeClient, signal: AbortSignal): Promise<void> {
  // The manifest is what the server accepts; the built-in type spells its schema out.
  const manifest = crdManifest(WebAppCrd) as unknown as CustomResourceDefinition
  await client.apply(CustomResourceDefinitions, manifest, { fieldManager: FIELD_MANAGER, force: true, signal })
  for (;;) {
    const { status } = await client.get(CustomResourceDefinitions, { name: WebAppCrd.name }, { signal })
    if (status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True')) return
    await sleep(100, { signal })
  }
}

/** The operator with webhooks on a free port of this machine. */
export function webAppOperator(client: KubeClient, logger: Logger): WebAppOperator {
  return createWebAppOperator({
    client,
    logger,
    webhook: {
      address: { host: '127.0.0.1', port: 0 },
      certificate: { secret: { namespace: NAMESPACE, name: 'webapp-operator-certificate' }, hosts: ['127.0.0.1'] },
      configurationName: CONFIGURATION,
    },
  })
}

/** Tells the API server about the webhooks. The operator itself adds the certificate authority to trust. */
export async function registerWebhooks(
  client: KubeClient,
  operator: WebAppOperator,
  signal: AbortSignal,
): Promise<void> {
  const address = await operator.webhooks?.address()
  if (address === undefined) return
  const { mutating, validating } = webhookConfigurations(CONFIGURATION, `https://127.0.0.1:${address.port}`)
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  await client.apply(MutatingWebhookConfigurations, mutating, options)
  await client.apply(ValidatingWebhookConfigurations, validating, options)
  await operator.certificates?.check(signal)
}

/** Applies the sample. Tried again while the API server has not taken note of the webhooks' certificate. */
export async function applySample(client: KubeClient, signal: AbortSignal): Promise<WebApp> {
  const sample = parse(await readFile(new URL('../../webapp/samples/shop.yaml', import.meta.url), 'utf8')) as WebApp
  for (;;) {
    try {
      return await client.apply(WebApps, sample, { fieldManager: FIELD_MANAGER, force: true, signal })
    } catch (error) {
      if (!isApiError(error) || error.status !== 500) throw error
      await sleep(200, { signal })
    }
  }
}

/** Resolves when the WebApp is Ready. */
export async function untilReady(client: KubeClient, webapp: WebApp, signal: AbortSignal): Promise<void> {
  const { namespace = NAMESPACE, name = '' } = webapp.metadata
  for (;;) {
    const { status } = await client.get(WebApps, { namespace, name }, { signal })
    if (status?.phase === 'Ready') return
    await sleep(200, { signal })
  }
}

/** What to say when it did not become Ready in time. */
export async function explain(client: KubeClient, webapp: WebApp): Promise<string> {
  const { namespace = NAMESPACE, name = '' } = webapp.metadata
  const { status } = await client.get(WebApps, { namespace, name })
  const messages = (status?.conditions ?? []).map(({ type, status: value, message }) =>
    `${type}=${value} ${message ?? ''}`.trim(),
  )
  return `WebApp ${name} is ${status?.phase ?? 'unknown'}: ${messages.join('; ')}`
}
