/** Webhooks of a ClusterServiceVersion, derived from the configurations and CRDs of the chart. */
import type { UnknownObject } from '@reeve/kube'

interface Webhook {
  readonly name: string
  readonly clientConfig: { readonly service: { readonly path: string } }
  readonly namespaceSelector?: object
  readonly [field: string]: unknown
}

interface Conversion {
  readonly webhook: {
    readonly conversionReviewVersions: readonly string[]
    readonly clientConfig: { readonly service: { readonly path: string } }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  MutatingWebhookConfiguration: 'MutatingAdmissionWebhook',
  ValidatingWebhookConfiguration: 'ValidatingAdmissionWebhook',
}

/** The Deployment that responds, and its port. */
export interface WebhookServer {
  readonly deploymentName: string
  readonly targetPort: string
}

/**
 * The webhooks of the chart as OLM configures them: with a Service and certificate of its own.
 *
 * OLM sets the namespaces from the OperatorGroup, so selectors of namespaces are left out and the webhook gets requests
 * from all namespaces.
 */
export function webhookDefinitions(objects: readonly UnknownObject[], server: WebhookServer): readonly object[] {
  const called = { ...server, containerPort: 443 }
  const admission = objects.flatMap((object) => {
    const type = TYPES[object.kind]
    if (type === undefined) return []
    // What a webhook configuration consists of.
    return (object.webhooks as readonly Webhook[]).map(({ name, clientConfig, namespaceSelector, ...rest }) => ({
      type,
      generateName: name,
      ...called,
      webhookPath: clientConfig.service.path,
      ...rest,
    }))
  })
  return [...admission, ...conversion(objects, called)]
}

function conversion(objects: readonly UnknownObject[], called: object): readonly object[] {
  const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
  return crds.flatMap(({ metadata, spec }) => {
    const { names, conversion: by } = spec as { names: { singular: string }; conversion?: Conversion }
    if (by === undefined) return []
    return {
      type: 'ConversionWebhook',
      generateName: `${names.singular}.conversion.webhook.dynatrace.com`,
      ...called,
      webhookPath: by.webhook.clientConfig.service.path,
      admissionReviewVersions: by.webhook.conversionReviewVersions,
      sideEffects: 'None',
      conversionCRDs: [metadata.name],
    }
  })
}
