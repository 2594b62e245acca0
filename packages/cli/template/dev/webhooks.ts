/** Webhooks outside a cluster: the API server calls them on this machine. */
import {
  CustomResourceDefinitions,
  type KubeClient,
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import type { CreatedOperator, WebhookOptions } from '@reeve/runtime/operator'
import { operator } from '../src/operator.ts'

const { name } = operator

/** A port that is free, and a certificate that the operator issues itself. */
export const webhook: WebhookOptions = {
  address: { host: '127.0.0.1', port: 0 },
  certificate: { secret: { namespace: 'default', name: `${name}-certificate` }, hosts: ['127.0.0.1'] },
  inject: { mutating: [name], validating: [name] },
}

/** Creates the configurations in which the operator writes its authority, without webhooks until their port is known. */
export async function announceWebhooks(client: KubeClient): Promise<void> {
  const empty = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name }, webhooks: [] }
  const force = { force: true }
  await client.apply(MutatingWebhookConfigurations, { ...empty, kind: 'MutatingWebhookConfiguration' }, force)
  await client.apply(ValidatingWebhookConfigurations, { ...empty, kind: 'ValidatingWebhookConfiguration' }, force)
}

/** Tells the API server where the webhooks are. */
export async function registerWebhooks(
  client: KubeClient,
  { webhooks }: Pick<CreatedOperator<never>, 'webhooks'>,
  signal: AbortSignal,
): Promise<void> {
  const address = await webhooks?.server.address()
  const location = { url: `https://127.0.0.1:${address?.port}` }
  const { mutating, validating } = operator.webhookConfigurations({ location })
  if (mutating) await client.apply(MutatingWebhookConfigurations, mutating, { force: true, signal })
  if (validating) await client.apply(ValidatingWebhookConfigurations, validating, { force: true, signal })
  for (const crd of operator.crds(location)) {
    await client.apply(CustomResourceDefinitions, crd, { force: true, signal })
  }
  await webhooks?.certificates?.check(signal)
}
