/** Texts that a DynaKube refers to by the name of a Secret or ConfigMap of the user. */
import { isProxyAddress } from '@reeve/http'
import { activeGateUsesProxy } from '../../../api/dynakube/active-gate-facts.ts'
import { hasProxy, oneAgentUsesProxy, ProxyNotFoundError, proxyUrl, proxyUrlHash } from '../../../api/dynakube/proxy.ts'
import type { DynaKube } from '../../../api/latest.ts'
import type { NamespaceView } from '../../references/namespace-view.ts'
import { KeyNotFoundError, ReferenceNotFoundError } from '../../references/reference-error.ts'
import { InvalidProxyError, proxyParts } from '../components/tenant/proxy-parts.ts'
import type { Material } from '../render-input.ts'
import type { ClusterPass } from './pass.ts'

/** The key of the settings of gateways, in the user's Secret and in the operator's. */
export const CUSTOM_PROPERTIES_KEY = 'customProperties'

/**
 * The address of the proxy.
 *
 * *Errors*: `ProxyNotFoundError`, and `InvalidProxyError` naming the field. Admission refuses such an address, but may be
 * absent, and a Secret changes without it: nothing is sent past a proxy that somebody wanted.
 */
export async function resolveProxy({ draft, view }: ClusterPass): Promise<Material> {
  const { dynakube } = draft
  if (!hasProxy(dynakube)) return {}
  const url = await proxyUrl(dynakube, async (name) => view.secret(name))
  if (url === undefined) throw new ProxyNotFoundError('spec.proxy is empty')
  if (!isProxyAddress(url)) throw new InvalidProxyError(whereProxyStands(dynakube, view))
  // Agents and gateways take fewer schemes than we do.
  if (oneAgentUsesProxy(dynakube) || activeGateUsesProxy(dynakube)) proxyParts(url)
  draft.update({ proxyURLHash: proxyUrlHash(url) })
  return { proxyUrl: url }
}

function whereProxyStands({ spec }: DynaKube, { namespace }: NamespaceView): string {
  const { value, valueFrom } = spec.proxy ?? {}
  return value ? 'spec.proxy.value' : `spec.proxy.valueFrom: the key proxy of the Secret ${namespace}/${valueFrom}`
}

/**
 * The user's settings of gateways. The text in the spec wins; gateways restart for that of the Secret, without white
 * space around it: other hashes than those of earlier releases would restart the gateways of clusters taken over.
 *
 * *Errors*: {@link ReferenceNotFoundError} naming the Secret and the key.
 */
export function resolveCustomProperties({ spec }: DynaKube, view: NamespaceView): Material {
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

/** The user's certificate for the reception of telemetry, if there is one. */
export function resolveTelemetryCertificate({ spec }: DynaKube, view: NamespaceView): Material {
  const name = spec.telemetryIngest?.tlsRefName
  const data = name ? view.secret(name) : undefined
  return data === undefined ? {} : { telemetryTlsData: data }
}
