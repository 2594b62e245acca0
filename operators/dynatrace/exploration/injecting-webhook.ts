/** The webhooks in a closed world: what they respond to a pod or namespace, with the current view of the cluster. */
import { isRecord } from '@reeve/http'
import type { KubeClient, KubeObject } from '@reeve/kube'
import type { WebhookRoute } from '@reeve/runtime'
import { IgnoredNamespacePatterns } from '../src/api/ignored-namespaces.ts'
import { INSTANCE_LABEL } from '../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { labelNamespaceRoute } from '../src/webhooks/namespaces/label-namespace.ts'
import { injectRoute } from '../src/webhooks/pods/inject.ts'
import { NAMESPACE } from './dynatrace-under-test.ts'

const SETTINGS = {
  image: 'registry.example.com/dynatrace-operator:1.8.1',
  operatorVersion: '1.8.1',
  hasCsiDriver: true,
  isOpenShift: false,
}

interface Operation {
  readonly path: string
  readonly value?: unknown
}

/** Sends a review, and returns the operations of the patch. Whatever the state of the cluster, the request is admitted. */
async function review(route: WebhookRoute, resource: string, namespace: string, object: KubeObject) {
  const { kind } = object
  const request = {
    uid: 'exploration',
    kind: { group: '', version: 'v1', kind },
    resource: { group: '', version: 'v1', resource },
    namespace,
    operation: 'CREATE',
    object,
  }
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
  const answer = await route.respond(body, new AbortController().signal)
  const { response } = answer as { readonly response: { readonly allowed: boolean; readonly patch?: string } } // a review
  if (!response.allowed) throw new Error(`the webhook denies a ${kind}: ${JSON.stringify(response)}`)
  const patch = Buffer.from(response.patch ?? 'W10=', 'base64').toString()
  return JSON.parse(patch) as readonly Operation[] // operations of a patch
}

/** Admits a pod, and fails when it is not injected as expected, or only in part. */
export async function admitPod(client: KubeClient, namespace: string, expected: 'injected' | 'any'): Promise<void> {
  const route = injectRoute({
    client,
    namespace: NAMESPACE,
    settings: SETTINGS,
    isManagedByOlm: false,
    events: { record: () => undefined },
  })
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace },
    spec: { containers: [{ name: 'app', image: 'php:fpm' }] },
  }
  const operations = await review(route, 'pods', namespace, pod)
  const has = (start: string) => operations.some(({ path }) => path.startsWith(start))
  const parts = ['/spec/initContainers', '/spec/volumes', '/spec/containers/0'].map(has)
  if (new Set(parts).size > 1) throw new Error(`a pod is injected in part: ${JSON.stringify(operations)}`)
  if (expected === 'injected' && !parts[0]) throw new Error(`a pod is not injected: ${JSON.stringify(operations)}`)
}

/** The labels of a namespace as the webhook would have them stored. */
export async function admitNamespace(
  client: KubeClient,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const route = labelNamespaceRoute({ client, namespace: NAMESPACE, ignoredNamespaces: new IgnoredNamespacePatterns() })
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
  const operations = await review(route, 'namespaces', name, object)
  const { [INSTANCE_LABEL]: before, ...others } = labels
  const change = operations.find(({ path }) => path.includes('instance'))
  const instance = change === undefined ? before : change.value
  if (isRecord(instance) || (instance !== undefined && typeof instance !== 'string')) {
    throw new Error(`the label of a namespace is not text: ${JSON.stringify(instance)}`)
  }
  return instance === undefined ? others : { ...others, [INSTANCE_LABEL]: instance }
}
