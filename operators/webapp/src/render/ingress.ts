/** The Ingress of a WebApp that has a host name. */
import { type Ingress, Ingresses } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import type { WebApp } from '../api/webapp.ts'
import { objectLabels } from './labels.ts'

/** Renders the Ingress, or nothing: the engine removes one that is no longer rendered. */
export function renderIngress(webapp: WebApp): readonly DesiredObject<Ingress>[] {
  const { name = '', namespace } = webapp.metadata
  const { ingress } = webapp.spec
  if (ingress === undefined) return []
  const { host, className, tlsSecretName } = ingress
  const backend = { service: { name, port: { name: 'http' } } }
  return [
    desired(Ingresses, {
      metadata: { name, namespace, labels: objectLabels(webapp) },
      spec: {
        ...(className && { ingressClassName: className }),
        ...(tlsSecretName && { tls: [{ hosts: [host], secretName: tlsSecretName }] }),
        rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      },
    }),
  ]
}
