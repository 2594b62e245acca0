/** The user's settings of gateways, and what the operator adds to them. */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { customPropertiesSecretName, needsCustomProperties } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasProxy } from '../../../../api/dynakube/proxy.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { NamespaceView } from '../../../references/namespace-view.ts'
import { KeyNotFoundError, ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'

const SECTION = '[http.client.internal]'

/** The key of the settings, in the Secret of the user and in that of the operator. */
export const CUSTOM_PROPERTIES_KEY = 'customProperties'

/** The settings of the user. */
export interface CustomProperties {
  /** Their text. */
  readonly activeGateCustomProperties?: string
  /** The part for which gateways restart, as earlier releases hashed it. */
  readonly activeGateHashedProperties?: string
}

/**
 * The user's settings of gateways. The text in the spec wins; gateways restart for that of the Secret, without white
 * space around it: other hashes than those of earlier releases would restart the gateways of clusters taken over.
 *
 * *Errors*: {@link ReferenceNotFoundError} naming the Secret and the key.
 */
export function resolveCustomProperties({ spec }: DynaKube, view: NamespaceView): CustomProperties {
  const { value, valueFrom } = spec.activeGate?.customProperties ?? {}
  if (!valueFrom) return value ? { activeGateCustomProperties: value, activeGateHashedProperties: value } : {}
  const where = `spec.activeGate.customProperties.valueFrom: the Secret ${view.namespace}/${valueFrom}`
  const data = view.secret(valueFrom)
  if (data === undefined) {
    throw new ReferenceNotFoundError(`${where} does not exist; create it with the key ${CUSTOM_PROPERTIES_KEY}`)
  }
  const text = data[CUSTOM_PROPERTIES_KEY]
  if (text === undefined) throw new KeyNotFoundError(`${where} has no key ${CUSTOM_PROPERTIES_KEY}; add it`)
  return { activeGateCustomProperties: value || text, activeGateHashedProperties: text.trim() }
}

/** The Secret with the settings, also when they come from a Secret of the user: gateways mount one name only. */
export function renderCustomProperties(dynakube: DynaKube, properties: CustomProperties): readonly DesiredObject[] {
  const text = customPropertiesText(dynakube, properties)
  if (text === '') return []
  return [
    desired(Secrets, {
      metadata: { namespace: dynakube.metadata.namespace, name: customPropertiesSecretName(dynakube) },
      data: encodeSecret({ [CUSTOM_PROPERTIES_KEY]: text }),
    }),
  ]
}

/** The settings in the format of gateways; empty if there are none. */
export function customPropertiesText(
  dynakube: DynaKube,
  { activeGateCustomProperties = '' }: CustomProperties,
): string {
  if (!needsCustomProperties(dynakube)) return ''
  return withNoProxy(activeGateCustomProperties, noProxyHosts(dynakube))
}

/** Hosts that gateways reach without the proxy, in their own notation; empty when there are none. */
function noProxyHosts(dynakube: DynaKube): string {
  return hasProxy(dynakube) ? featureFlags(dynakube).noProxy.replaceAll(',', '|') : ''
}

/** Puts the hosts into the section they belong to, which is added when the user has none. */
function withNoProxy(text: string, hosts: string): string {
  if (hosts === '') return text
  const setting = `proxy-non-proxy-hosts=${hosts}`
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.includes(SECTION))
  if (at < 0) return `${text}\n${SECTION}\n${setting}`
  return [...lines.slice(0, at), SECTION, setting, ...lines.slice(at + 1)].join('\n')
}
