/** How the API server is told about webhooks that listen on this machine instead of behind a Service. */
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@reeve/kube'
import { WEBHOOK_PATHS } from './webhooks.ts'

/**
 * The webhook configurations for an operator outside the cluster; inside, the chart has them. The certificate authority
 * is filled in by the operator.
 *
 * @example
 * const { mutating, validating } = webhookConfigurations('webapp-operator', 'https://127.0.0.1:9443')
 */
export function webhookConfigurations(
  name: string,
  url: string,
  failurePolicy: 'Fail' | 'Ignore' = 'Fail',
): { readonly mutating: MutatingWebhookConfiguration; readonly validating: ValidatingWebhookConfiguration } {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const webhook = (path: string) => ({
    name: 'webapps.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None' as const,
    failurePolicy,
    timeoutSeconds: 5,
    clientConfig: { url: `${url}${path}` },
    rules: [
      {
        apiGroups: ['example.com'],
        apiVersions: ['v1'],
        resources: ['webapps'],
        operations: ['CREATE' as const, 'UPDATE' as const],
      },
    ],
  })
  const metadata = { name }
  return {
    mutating: { apiVersion, kind: 'MutatingWebhookConfiguration', metadata, webhooks: [webhook(WEBHOOK_PATHS.mutate)] },
    validating: {
      apiVersion,
      kind: 'ValidatingWebhookConfiguration',
      metadata,
      webhooks: [webhook(WEBHOOK_PATHS.validate)],
    },
  }
}
