/** Writes into webhook configurations which authority the API server has to trust. */
import {
  CustomResourceDefinitions,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  MutatingWebhookConfigurations,
  type Resource,
  ValidatingWebhookConfigurations,
  type WebhookClientConfig,
} from '@reeve/kube'

/** The objects that name our webhooks. */
export interface CaBundleTargets {
  /** Names of ValidatingWebhookConfigurations. */
  readonly validating?: readonly string[]
  /** Names of MutatingWebhookConfigurations. */
  readonly mutating?: readonly string[]
  /** Names of CustomResourceDefinitions with a conversion webhook. */
  readonly customResourceDefinitions?: readonly string[]
}

/** Options of {@link injectCaBundle}. */
export interface InjectCaBundleOptions {
  readonly signal?: AbortSignal
  /**
   * `update` sends whole objects, for roles that allow `update` and not `patch`; a concurrent change
   * makes it fail with a conflict.
   * @default 'patch'
   */
  readonly verb?: 'patch' | 'update'
}

/** What happened to one target. */
export interface InjectionResult {
  /** Such as `ValidatingWebhookConfiguration webapp`. */
  readonly target: string
  readonly outcome: 'unchanged' | 'patched' | 'failed'
  readonly error?: unknown
}

/**
 * Writes the bundle into every webhook of the targets, where it differs.
 *
 * *Guarantees*: a target that carries the bundle already costs one read and no write; the patch touches nothing but
 * `caBundle`, and applies only if the webhook at that index is still the one that was read; one target that fails does
 * not keep the others from being written. Needs `get` and `patch` (or `update`, see `verb`) on the targets.
 *
 * @param bundle authorities in PEM
 *
 * @example
 * await injectCaBundle(client, bundle, { validating: ['webapp'], customResourceDefinitions: ['webapps.example.com'] })
 */
export async function injectCaBundle(
  client: KubeClient,
  bundle: string,
  targets: CaBundleTargets,
  options: InjectCaBundleOptions = {},
): Promise<readonly InjectionResult[]> {
  const caBundle = Buffer.from(bundle).toString('base64')
  const { verb = 'patch', ...request } = options
  const inject = async <T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    patchFor: (object: T) => readonly JsonPatchOperation[],
  ): Promise<InjectionResult> => {
    const target = `${resource.kind} ${name}`
    try {
      const object = await client.get(resource, { name }, request)
      const patch = patchFor(object)
      if (patch.length === 0) return { target, outcome: 'unchanged' }
      if (verb === 'patch') await client.patch(resource, { name }, { type: 'json', patch }, request)
      else await client.update(resource, patched(object, patch), request)
      return { target, outcome: 'patched' }
    } catch (error) {
      options.signal?.throwIfAborted()
      return { target, outcome: 'failed', error }
    }
  }
  const webhookPatch = ({ webhooks = [] }: { readonly webhooks?: readonly NamedWebhook[] }) =>
    webhooks.flatMap(({ name, clientConfig }, index) => patchWebhook(index, name, clientConfig, caBundle))
  return Promise.all([
    ...(targets.validating ?? []).map((name) => inject(ValidatingWebhookConfigurations, name, webhookPatch)),
    ...(targets.mutating ?? []).map((name) => inject(MutatingWebhookConfigurations, name, webhookPatch)),
    ...(targets.customResourceDefinitions ?? []).map((name) =>
      inject(CustomResourceDefinitions, name, ({ spec }) => {
        const { strategy, webhook } = spec.conversion ?? {}
        if (strategy !== 'Webhook' || webhook === undefined) return []
        return patchConversion(webhook.clientConfig, caBundle)
      }),
    ),
  ])
}

interface NamedWebhook {
  readonly name: string
  readonly clientConfig: WebhookClientConfig
}

function patchWebhook(
  index: number,
  name: string,
  clientConfig: WebhookClientConfig,
  caBundle: string,
): readonly JsonPatchOperation[] {
  if (clientConfig.caBundle === caBundle) return []
  return [
    // The list may have been reordered since it was read.
    { op: 'test', path: `/webhooks/${index}/name`, value: name },
    { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
  ]
}

/** A copy with the additions made. The tests hold by themselves: the update carries the resourceVersion that was read. */
function patched<T extends KubeObject>(object: T, patch: readonly JsonPatchOperation[]): T {
  const copy = structuredClone(object)
  for (const { op, path, value } of patch) {
    if (op !== 'add') continue
    const [last = '', ...parents] = path.split('/').slice(1).reverse()
    // The path was computed from this object, so every parent exists.
    const parent = parents.reduceRight<unknown>((node, key) => (node as Record<string, unknown>)[key], copy)
    Object.assign(parent as object, { [last]: value })
  }
  return copy
}

function patchConversion(
  clientConfig: WebhookClientConfig | undefined,
  caBundle: string,
): readonly JsonPatchOperation[] {
  if (clientConfig === undefined || clientConfig.caBundle === caBundle) return []
  return [
    { op: 'test', path: '/spec/conversion/strategy', value: 'Webhook' },
    { op: 'add', path: '/spec/conversion/webhook/clientConfig/caBundle', value: caBundle },
  ]
}
