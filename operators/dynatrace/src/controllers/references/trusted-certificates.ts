/** Certificates that a user trusts. */
import type { DynaKube } from '../../api/latest.ts'
import type { NamespaceView } from './namespace-view.ts'
import { ReferenceNotFoundError } from './reference-error.ts'

/** Certificates that the user trusts. *Errors*: {@link ReferenceNotFoundError}. */
export function resolveTrustedCertificates(
  { spec }: DynaKube,
  view: Pick<NamespaceView, 'namespace' | 'configMap'>,
): { readonly trustedCertificates?: string } {
  const { trustedCAs } = spec
  if (!trustedCAs) return {}
  const { certs } = view.configMap(trustedCAs) ?? {}
  if (certs) return { trustedCertificates: certs }
  const where = `spec.trustedCAs: the ConfigMap ${view.namespace}/${trustedCAs}`
  throw new ReferenceNotFoundError(`${where} has no key certs with certificates; add it`)
}
