/** The Deployment of the webhook, for what only needs it to exist. */
import { type Deployment, Deployments, type KubeClient, type Stored } from '@reeve/kube'
import { WEBHOOK_NAME } from '../../src/installed-names.ts'

/** Its manifest. */
export function webhookDeployment(namespace: string, replicas = 1): Deployment {
  const labels = { app: WEBHOOK_NAME }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: WEBHOOK_NAME },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'webhook', image: 'webhook:1' }] } },
    },
  }
}

/** Creates it. */
export function createWebhookDeployment(client: KubeClient, namespace: string): Promise<Stored<Deployment>> {
  return client.create(Deployments, webhookDeployment(namespace))
}
