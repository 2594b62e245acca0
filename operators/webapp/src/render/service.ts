/** The Service of a WebApp. */
import { type Service, Services } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import type { WebApp } from '../api/webapp.ts'
import { objectLabels, selectorLabels } from './labels.ts'

/** Renders the Service: one port that forwards to the container's. */
export function renderService(webapp: WebApp): DesiredObject<Service> {
  const { name, namespace } = webapp.metadata
  const { type, port } = webapp.spec.service
  return desired(
    Services,
    {
      metadata: { name, namespace, labels: objectLabels(webapp) },
      spec: {
        type,
        selector: selectorLabels(webapp),
        ports: [{ name: 'http', port, targetPort: 'http', protocol: 'TCP' }],
      },
    },
    { sole: ['spec.ports', 'spec.selector'] },
  )
}
