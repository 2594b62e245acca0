/** The user's settings of gateways, and what the operator adds to them. */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { customPropertiesSecretName, needsCustomProperties } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasProxy } from '../../../../api/dynakube/proxy.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import type { RenderInput } from '../../render-input.ts'
import { CUSTOM_PROPERTIES_KEY } from '../../resolve/referenced.ts'

const SECTION = '[http.client.internal]'

/** The Secret with the settings, also when they come from a Secret of the user: gateways mount one name only. */
export function renderCustomProperties(input: RenderInput): readonly DesiredObject[] {
  const { dynakube } = input
  const text = customPropertiesText(input)
  if (text === '') return []
  return [
    desired(Secrets, {
      metadata: { namespace: dynakube.metadata.namespace, name: customPropertiesSecretName(dynakube) },
      data: encodeSecret({ [CUSTOM_PROPERTIES_KEY]: text }),
    }),
  ]
}

/** The settings as gateways read them; empty when there are none. */
export function customPropertiesText({ dynakube, material }: RenderInput): string {
  if (!needsCustomProperties(dynakube)) return ''
  return withNoProxy(material.activeGateCustomProperties ?? '', noProxyHosts(dynakube))
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
