/** The proxy through which the tenant is reached. */
import { isProxyAddress } from '@reeve/http'
import { activeGateUsesProxy } from '../../../../api/dynakube/active-gate-facts.ts'
import {
  hasProxy,
  oneAgentUsesProxy,
  ProxyNotFoundError,
  proxyUrl,
  proxyUrlHash,
} from '../../../../api/dynakube/proxy.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { NamespaceView } from '../../../references/namespace-view.ts'
import { type DynaKubeContext, viewOf } from '../../dynakube-component.ts'
import { InvalidProxyError, proxyParts } from './proxy-parts.ts'

/**
 * The URL of the proxy.
 *
 * *Errors*: `ProxyNotFoundError`, and `InvalidProxyError` naming the field. Admission rejects such a URL, but may be
 * absent, and a Secret changes without it: nothing bypasses a proxy that the user configured.
 */
export async function resolveProxy(context: DynaKubeContext): Promise<{ readonly proxyUrl?: string }> {
  const { primary: dynakube } = context
  if (!hasProxy(dynakube)) {
    reportHash(context, undefined)
    return {}
  }
  const view = viewOf(context)
  const url = await proxyUrl(dynakube, async (name) => view.secret(name))
  if (url === undefined) throw new ProxyNotFoundError('spec.proxy is empty')
  if (!isProxyAddress(url)) throw new InvalidProxyError(whereProxyStands(dynakube, view))
  const isUsed = oneAgentUsesProxy(dynakube) || activeGateUsesProxy(dynakube)
  // Agents and gateways accept fewer schemes than the operator.
  if (isUsed) proxyParts(url)
  reportHash(context, isUsed ? proxyUrlHash(url) : undefined)
  return { proxyUrl: url }
}

/** In the status while agents or gateways use the proxy: a change restarts log agents. */
function reportHash({ reporter }: DynaKubeContext, proxyURLHash: string | undefined): void {
  if (reporter.status?.proxyURLHash !== proxyURLHash) reporter.update({ proxyURLHash })
}

function whereProxyStands({ spec }: DynaKube, { namespace }: NamespaceView): string {
  const { value, valueFrom } = spec.proxy ?? {}
  return value ? 'spec.proxy.value' : `spec.proxy.valueFrom: the key proxy of the Secret ${namespace}/${valueFrom}`
}
