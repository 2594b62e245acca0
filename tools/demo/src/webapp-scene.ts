/** The WebApp operator in the demo: installed, running, with a sample. */
import { readFile } from 'node:fs/promises'
import { crdManifest } from '@reeve/crd'
import { sleep } from '@reeve/http'
import {
  isApiError,
  type KubeClient,
  MutatingWebhookConfigurations,
  resource,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import {
  createWebAppOperator,
  type WebApp,
  WebAppCrd,
  type WebAppOperator,
  WebApps,
  webAppOperator,
} from '@reeve/webapp'
import { parse } from 'yaml'
import { applyCrd, FIELD_MANAGER } from './apply-crd.ts'
import { colourOf, type Narrated, type NarratedKind } from './narrator.ts'
import { connectAsOperator } from './operator-account.ts'
import type { OpenScene, Scene, SceneStage } from './scene.ts'

const CONFIGURATION = 'webapp-operator'
const NAMESPACE = 'default'
const SAMPLE = new URL('../../../operators/webapp/samples/shop.yaml', import.meta.url)

const WEBAPP: NarratedKind = {
  resource: resource<Narrated>({
    group: 'example.com',
    version: 'v1',
    kind: 'WebApp',
    plural: 'webapps',
    namespaced: true,
  }),
  describe({ spec, status }) {
    const word = status?.phase ?? 'Created'
    const message = status?.conditions?.find(
      ({ type, status: value }) => type !== 'Available' && value === 'True',
    )?.message
    const numbers = `${status?.availableReplicas ?? 0} of ${spec?.replicas ?? 1} available`
    return { word, colour: colourOf(word), detail: message ?? numbers }
  },
}

/** A web application as a Deployment and a Service. */
export const webAppScene: Scene = {
  title: 'WebApp: a web application as a Deployment and a Service',
  kubectlNames: 'webapps',
  hint: 'kubectl scale webapp shop --replicas=5, or delete its Deployment',
  kinds: [WEBAPP],
  open: openWebAppScene,
}

async function openWebAppScene(stage: SceneStage, signal: AbortSignal): Promise<OpenScene> {
  const { client, logger } = stage
  await applyCrd(client, crdManifest(WebAppCrd), signal)
  const chart = { operator: 'webapp', release: CONFIGURATION, namespace: NAMESPACE }
  const account = await connectAsOperator(stage, chart, signal)
  const operator = createWebAppOperator({
    client: account,
    logger,
    observer: stage.console.observer(),
    webhook: {
      address: { host: '127.0.0.1', port: 0 },
      certificate: { secret: { namespace: NAMESPACE, name: 'webapp-operator-certificate' }, hosts: ['127.0.0.1'] },
      inject: { mutating: [CONFIGURATION], validating: [CONFIGURATION] },
    },
  })
  const sample = parse(await readFile(SAMPLE, 'utf8')) as WebApp
  const key = { namespace: sample.metadata.namespace ?? NAMESPACE, name: sample.metadata.name ?? '' }
  return {
    run: (until) => operator.manager.run(until),
    async play(limit) {
      await registerWebhooks(client, operator, limit)
      await applySample(client, sample, limit)
      while ((await client.get(WebApps, key, { signal: limit })).status?.phase !== 'Ready') {
        await sleep(200, { signal: limit })
      }
    },
    async explain() {
      const { status } = await client.get(WebApps, key)
      const messages = (status?.conditions ?? []).map(({ type, status: value, message }) =>
        `${type}=${value} ${message ?? ''}`.trim(),
      )
      return `WebApp ${key.name} is ${status?.phase ?? 'unknown'}: ${messages.join('; ')}`
    },
    [Symbol.asyncDispose]: () => account.close(),
  }
}

/** Registers the webhooks with the API server. The operator itself adds the certificate authority to trust. */
async function registerWebhooks(client: KubeClient, operator: WebAppOperator, signal: AbortSignal): Promise<void> {
  const address = await operator.webhooks?.server.address()
  if (address === undefined) return
  const location = { url: `https://127.0.0.1:${address.port}` }
  const { mutating, validating } = webAppOperator.webhookConfigurations({ location, name: CONFIGURATION })
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  if (mutating) await client.apply(MutatingWebhookConfigurations, mutating, options)
  if (validating) await client.apply(ValidatingWebhookConfigurations, validating, options)
  await operator.webhooks?.certificates?.check(signal)
}

/** Applies the sample. Tried again while the API server has not taken note of the webhooks' certificate. */
async function applySample(client: KubeClient, sample: WebApp, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await client.apply(WebApps, sample, { fieldManager: FIELD_MANAGER, force: true, signal })
      return
    } catch (error) {
      if (!isApiError(error) || error.status !== 500) throw error
      await sleep(200, { signal })
    }
  }
}
