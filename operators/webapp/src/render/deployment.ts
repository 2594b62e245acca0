/** The Deployment of a WebApp. */
import { type Deployment, Deployments, type ResourceRequirements } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import type { WebApp, WebAppSpec } from '../api/webapp.ts'
import { objectLabels, selectorLabels } from './labels.ts'

/** The one container of a replica. */
const CONTAINER_NAME = 'web'

/** Renders the Deployment: the desired replicas, each probed before it gets traffic. */
export function renderDeployment(webapp: WebApp): DesiredObject<Deployment> {
  const { name, namespace } = webapp.metadata
  const { image, replicas, port, env, resources, imagePullSecrets, healthCheckPath } = webapp.spec
  const probe = healthCheckPath === undefined ? { tcpSocket: { port } } : { httpGet: { path: healthCheckPath, port } }
  return desired(Deployments, {
    metadata: { name, namespace, labels: objectLabels(webapp) },
    spec: {
      replicas,
      selector: { matchLabels: selectorLabels(webapp) },
      template: {
        metadata: { labels: objectLabels(webapp) },
        spec: {
          containers: [
            {
              name: CONTAINER_NAME,
              image,
              ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
              ...(env && { env }),
              ...(resources && { resources: asText(resources) }),
              readinessProbe: { ...probe, periodSeconds: 5, timeoutSeconds: 2 },
              securityContext: { allowPrivilegeEscalation: false },
            },
          ],
          ...(imagePullSecrets && { imagePullSecrets }),
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        },
      },
    },
  })
}

/** The server keeps quantities as text: writing `2` as "2" makes what is written equal to what is read back. */
function asText({ requests, limits }: NonNullable<WebAppSpec['resources']>): ResourceRequirements {
  const text = (amounts: Readonly<Record<string, number | string>>) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
  return { ...(requests && { requests: text(requests) }), ...(limits && { limits: text(limits) }) }
}
