/** How the API server is told about the validating webhooks. */
import type { AnyCrd } from '@reeve/crd'
import type { ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig } from '@reeve/kube'
import { CRDS } from '../api/crd-manifests.ts'
import { WEBHOOK_NAME } from './names.ts'
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
