/** Webhook configurations and `spec.conversion` of CRDs, as they follow from the webhooks of an operator. */
import type {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Resource,
  RuleWithOperations,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'
import type { AdmissionTrigger, WebhookRoute } from '../webhooks/webhook-route.ts'

/** Where the API server finds the webhooks: behind a Service, or at a URL such as `https://127.0.0.1:9443`. */
export type WebhookLocation = (
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  | { readonly url: string }
) & {
  /** The authorities of their certificate, in PEM. @default written by the operator, or by the issuer of the certificate */
  readonly caBundle?: string
}

/** CRDs were requested without the location of the webhook that converts them: applying them would lose data. */
export class ConversionLocationError extends RuntimeError {
  override readonly name = 'ConversionLocationError'
  /** The names of the CRDs that are converted. */
  readonly crds: readonly string[]

  constructor(crds: readonly string[]) {
    super(
      'CONVERSION_LOCATION',
      `${crds.join(', ')}: converted by a webhook; pass its location, { service: { namespace, name } } or { url }`,
    )
    this.crds = crds
  }
}

/** What an installation decides about webhook configurations. */
export interface WebhookConfigurationOptions {
  readonly location: WebhookLocation
  /** The name of both configurations. @default the name of the operator */
  readonly name?: string
  /** What happens to requests while the webhook cannot be called. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** @default 5 */
  readonly timeoutSeconds?: number
}

/** The configurations that an operator needs; each is absent if there is no webhook of its type. */
export interface WebhookConfigurations {
  readonly mutating?: MutatingWebhookConfiguration
  readonly validating?: ValidatingWebhookConfiguration
}

/** A webhook as far as it follows from the operator; the installation adds the rest. */
export type WebhookRule = Pick<ValidatingWebhook, 'name' | 'admissionReviewVersions' | 'sideEffects' | 'rules'> & {
  readonly path: string
}

/**
 * The admission webhooks of a type.
 *
 * @example
 * const rules = webhookRules(routes, 'validating')
 */
export function webhookRules(routes: readonly WebhookRoute[], type: AdmissionTrigger['type']): readonly WebhookRule[] {
  const matching = routes.flatMap(({ path, admission }) => (admission?.type === type ? [{ path, admission }] : []))
  const names = matching.map(({ admission }) => nameOf(admission))
  return matching.map(({ path, admission }, index) => {
    const name = names[index] ?? ''
    const isShared = names.filter((other) => other === name).length > 1
    return {
      // Names are unique in a configuration; the path is unique among routes.
      name: isShared ? `${path.slice(1).replaceAll('/', '-')}.${name}` : name,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      path,
      rules: admission.resources.map((resource) => ruleOf(resource, admission)),
    }
  })
}

function nameOf({ resources: [first] }: AdmissionTrigger): string {
  // A name has at least three parts, also for kinds of the core group.
  return `${first?.plural ?? ''}.${first?.group || 'core.k8s.io'}`
}

function ruleOf(
  { group, version, plural, namespaced }: Resource,
  { operations }: AdmissionTrigger,
): RuleWithOperations {
  return {
    apiGroups: [group],
    apiVersions: [version],
    resources: [plural],
    operations,
    scope: namespaced ? 'Namespaced' : 'Cluster',
  }
}

/** The configurations for the webhooks among `routes` that say what they are for. */
export function webhookConfigurations(
  operator: string,
  routes: readonly WebhookRoute[],
  { location, name = operator, failurePolicy = 'Fail', timeoutSeconds = 5 }: WebhookConfigurationOptions,
): WebhookConfigurations {
  const webhooks = (type: AdmissionTrigger['type']) =>
    webhookRules(routes, type).map(({ path, ...rule }) => ({
      ...rule,
      failurePolicy,
      timeoutSeconds,
      clientConfig: clientConfig(location, path),
    }))
  const [mutating, validating] = [webhooks('mutating'), webhooks('validating')]
  const common = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } }
  return {
    ...(mutating.length > 0 && { mutating: { ...common, kind: 'MutatingWebhookConfiguration', webhooks: mutating } }),
    ...(validating.length > 0 && {
      validating: { ...common, kind: 'ValidatingWebhookConfiguration', webhooks: validating },
    }),
  }
}

/** The CRD, converted by the webhook among `routes` that converts its kind; unchanged when there is none. */
export function withConversion(
  crd: CustomResourceDefinition,
  routes: readonly WebhookRoute[],
  location: WebhookLocation,
): CustomResourceDefinition {
  const route = converterOf(crd, routes)
  if (route === undefined) return crd
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: clientConfig(location, route.path) }
  return { ...crd, spec: { ...crd.spec, conversion: { strategy: 'Webhook', webhook } } }
}

/** Whether a webhook among `routes` converts the kind. */
export function isConverted(crd: CustomResourceDefinition, routes: readonly WebhookRoute[]): boolean {
  return converterOf(crd, routes) !== undefined
}

function converterOf({ spec: { group, names } }: CustomResourceDefinition, routes: readonly WebhookRoute[]) {
  return routes.find(({ converts = [] }) =>
    converts.some((known) => known.group === group && known.kind === names.kind),
  )
}

function clientConfig(location: WebhookLocation, path: string): WebhookClientConfig {
  const { caBundle } = location
  return {
    ...('url' in location ? { url: `${location.url}${path}` } : { service: { ...location.service, path } }),
    ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle).toString('base64') }),
  }
}
