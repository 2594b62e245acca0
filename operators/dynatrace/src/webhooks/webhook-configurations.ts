/** The webhook configurations: which requests the API server sends to which path. */
import type { AnyCrd } from '@reeve/crd'
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '@reeve/kube'
import { CRDS } from '../api/crd-manifests.ts'
import { INSTANCE_LABEL } from '../controllers/dynakube/components/injection/map-namespaces.ts'
import { WEBHOOK_NAME } from '../installed-names.ts'
import { LABEL_NAMESPACE_PATH } from './namespaces/label-namespace.ts'
import { INJECT_PATH } from './pods/inject.ts'
import { validationPath } from './validate.ts'

/**
 * The configuration for webhooks wherever they are; in a cluster the chart has the same one. Each version is called at
 * its own path, in the version that the client used.
 *
 * @example
 * validatingConfiguration((path) => ({ url: `https://127.0.0.1:8443${path}` }))
 */
export function validatingConfiguration(
  clientConfigFor: (path: string) => WebhookClientConfig,
  timeoutSeconds = 10,
): ValidatingWebhookConfiguration {
  const webhook = ({ group, kind, plural }: AnyCrd, version: string): ValidatingWebhook => ({
    name: `${version}.${kind.toLowerCase()}.webhook.dynatrace.com`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    matchPolicy: 'Exact',
    timeoutSeconds,
    clientConfig: clientConfigFor(validationPath(version, kind)),
    rules: [{ apiGroups: [group], apiVersions: [version], resources: [plural], operations: ['CREATE', 'UPDATE'] }],
  })
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: WEBHOOK_NAME },
    webhooks: CRDS.flatMap((crd) =>
      Object.keys(crd.versions)
        .sort()
        .map((version) => webhook(crd, version)),
    ),
  }
}

/**
 * The configuration of the webhooks for pods and namespaces; in a cluster the chart has the same one. Pods come only from
 * namespaces that belong to a DynaKube. Without a response both are admitted as they are.
 *
 * @example
 * mutatingConfiguration((path) => ({ url: `https://127.0.0.1:8443${path}` }))
 */
export function mutatingConfiguration(
  clientConfigFor: (path: string) => WebhookClientConfig,
  timeoutSeconds = 10,
): MutatingWebhookConfiguration {
  const webhook = (name: string, path: string, rest: Pick<MutatingWebhook, 'rules' | 'namespaceSelector'>) => ({
    name: `webhook.${name}.dynatrace.com`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None' as const,
    failurePolicy: 'Ignore' as const,
    reinvocationPolicy: 'IfNeeded' as const,
    timeoutSeconds,
    clientConfig: clientConfigFor(path),
    ...rest,
  })
  const core = { apiGroups: [''], apiVersions: ['v1'] }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: WEBHOOK_NAME },
    webhooks: [
      webhook('pod', INJECT_PATH, {
        rules: [{ ...core, resources: ['pods'], operations: ['CREATE'], scope: 'Namespaced' }],
        namespaceSelector: { matchExpressions: [{ key: INSTANCE_LABEL, operator: 'Exists' }] },
      }),
      webhook('ns', LABEL_NAMESPACE_PATH, {
        rules: [{ ...core, resources: ['namespaces'], operations: ['CREATE', 'UPDATE'], scope: 'Cluster' }],
      }),
    ],
  }
}
