/** An application of a user in the demo, whose pods the webhook of the Dynatrace operator injects. */
import { sleep } from '@reeve/http'
import { type Deployment, Deployments, type KubeClient, Namespaces, Pods } from '@reeve/kube'
import { FIELD_MANAGER } from './apply-crd.ts'

/** The namespace of the application. */
const NAMESPACE = 'bookshop'
const REPLICAS = 2

/** What the webhook leaves on pods. */
const INJECTED = 'dynakube.dynatrace.com/injected'

const DEPLOYMENT: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: NAMESPACE, name: 'bookshop' },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: 'bookshop' } },
    template: {
      metadata: { labels: { app: 'bookshop' } },
      spec: { containers: [{ name: 'web', image: 'registry.example.com/bookshop:1' }] },
    },
  },
}

/** Creates the application, and resolves when all its pods are injected and available. */
export async function openBookshop(client: KubeClient, signal: AbortSignal): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  await client.apply(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, options)
  await client.apply(Deployments, DEPLOYMENT, options)
  const isOpen = async () => {
    const { status } = await client.get(Deployments, { namespace: NAMESPACE, name: 'bookshop' }, { signal })
    const { items } = await client.list(Pods, { namespace: NAMESPACE, signal })
    const injected = items.filter(({ metadata }) => metadata.annotations?.[INJECTED] === 'true')
    return status?.availableReplicas === REPLICAS && injected.length === REPLICAS
  }
  while (!(await isOpen())) await sleep(200, { signal })
}

/** How many pods of the application are injected. */
export async function bookshopState(client: KubeClient): Promise<string> {
  const { items } = await client.list(Pods, { namespace: NAMESPACE })
  const injected = items.filter(({ metadata }) => metadata.annotations?.[INJECTED] === 'true')
  return `${injected.length} of ${items.length} pods of the bookshop are injected`
}
