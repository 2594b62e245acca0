/**
 * CRDs that can do without their operator. A CRD whose conversion webhook is gone cannot be read: neither by users, nor by the
 * garbage collector and the deletion of a namespace.
 */
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  isConflict,
  isNotFound,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  type Resource,
  resource,
  type Stored,
} from '@reeve/kube'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { OPERATOR_VERSION } from './upgrade-crds.ts'

/** How often a CRD is read again that something else changed, such as its CA bundle. */
const ATTEMPTS = 5

/**
 * The CRD without its conversion webhook: only the stored version is served, because the API server would pass an object of
 * another one off as that version. A CRD that no webhook converts is returned unchanged.
 *
 * For the folder `crds` of a chart: objects can be created before the operator runs, and it adds the rest when it starts.
 *
 * @example
 * const [crd] = operator.crds(location).map(withoutConversion)
 */
export function withoutConversion(crd: CustomResourceDefinition): CustomResourceDefinition {
  const { conversion, versions, ...spec } = crd.spec
  if (conversion?.strategy !== 'Webhook') return crd
  return { ...crd, spec: { ...spec, versions: versions.map((version) => ({ ...version, served: version.storage })) } }
}

/** Options of {@link detachCrds}. */
export interface DetachOptions {
  /** The Service of the webhooks. A CRD that another Service converts is left alone: it has another operator. */
  readonly service: { readonly namespace: string; readonly name: string }
  readonly logger?: Logger
  readonly signal?: AbortSignal
}

/**
 * Detaches the CRDs of these names from the operator, before it is uninstalled: writes every object in the stored version,
 * which still needs the webhook, and then makes the CRD as {@link withoutConversion} describes. The next start of the
 * operator with `upgradeCrds` takes it back.
 *
 * *Guarantees*: a CRD loses its webhook after all its objects are stored in one version, never before; repeating it is safe.
 * Needs `get` and `patch` on the CRDs, `list` and `update` on their objects.
 *
 * *Errors*: those of the client, such as for an object that is invalid by now.
 *
 * @example
 * await detachCrds(client, ['notes.example.com'], { service: { namespace: 'notes', name: 'notes' } })
 */
export async function detachCrds(client: KubeClient, names: readonly string[], options: DetachOptions): Promise<void> {
  for (const name of names) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await detach(client, name, options)
        break
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS) throw error
      }
    }
  }
}

async function detach(client: KubeClient, name: string, { service, ...options }: DetachOptions): Promise<void> {
  const { signal, logger = silentLogger } = options
  const request = { ...(signal && { signal }) }
  let crd: Stored<CustomResourceDefinition>
  try {
    crd = await client.get(CustomResourceDefinitions, { name }, request)
  } catch (error) {
    if (isNotFound(error)) return
    throw error
  }
  const { conversion, group, names, scope, versions } = crd.spec
  const other = conversion?.webhook?.clientConfig?.service
  if (conversion?.strategy !== 'Webhook') return
  if (other !== undefined && (other.namespace !== service.namespace || other.name !== service.name)) {
    return logger.info({ crd: name, service: other }, 'another Service converts the CustomResourceDefinition')
  }
  const version = versions.find(({ storage }) => storage)?.name ?? ''
  const stored = { group, version, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' }
  const count = await rewriteAll(client, resource(stored), request)
  const { [OPERATOR_VERSION]: _detached, ...annotations } = crd.metadata.annotations ?? {}
  const patch: readonly JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: crd.metadata.resourceVersion },
    { op: 'add', path: '/metadata/annotations', value: annotations },
    { op: 'replace', path: '/spec', value: withoutConversion(crd).spec },
  ]
  await client.patch(CustomResourceDefinitions, { name }, { type: 'json', patch }, request)
  logger.info({ crd: name, version, count }, 'detached the CustomResourceDefinition from its webhook')
}

/** Writes every object unchanged, which makes the API server encode it in the stored version. Returns how many there were. */
async function rewriteAll(
  client: KubeClient,
  stored: Resource<KubeObject>,
  request: { readonly signal?: AbortSignal },
): Promise<number> {
  const { items } = await client.listAll(stored, request)
  for (const item of items) {
    try {
      await client.update(stored, item, request)
    } catch (error) {
      // A concurrent change has encoded it already, and a deleted one is no longer stored.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }
  return items.length
}
