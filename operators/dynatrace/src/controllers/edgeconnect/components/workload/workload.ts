/** The configuration of EdgeConnect and the Deployment that reads it. */
import { Deployments, Secrets } from '@reeve/kube'
import {
  configSecretName,
  hasKubernetesAutomation,
  isProvisioner,
} from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import { makeToken } from '../../../generated/token.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { storedAutomationToken } from '../../config-secret.ts'
import {
  bytesOf,
  type EdgeConnectComponent,
  type EdgeConnectContext,
  userClient,
  viewOf,
} from '../../edge-connect-component.ts'
import { image } from '../image/image.ts'
import { registration } from '../registration/registration.ts'
import type { EdgeConnectMaterial } from './config-file.ts'
import { renderEdgeConnect } from './render.ts'

/** What runs in the cluster. */
export const workload: EdgeConnectComponent<EdgeConnectMaterial> = {
  name: 'workload',
  needs: [image, registration],
  mayOwn: (edgeConnect) => [
    { resource: Secrets, name: configSecretName(edgeConnect) },
    { resource: Deployments, name: edgeConnect.metadata.name },
  ],
  resolve: (context) => ({
    oauthClient: oauthClient(context),
    ...proxyUser(context),
    ...(hasKubernetesAutomation(context.primary) && { automationToken: automationToken(context) }),
  }),
  render: ({ primary, facts }) => renderEdgeConnect({ edgeConnect: primary, material: facts }),
  isReady({ primary, cache }) {
    const { name, namespace = '' } = primary.metadata
    const { spec, status } = cache.get(Deployments, { namespace, name }) ?? {}
    return spec !== undefined && (spec.replicas ?? 1) === (status?.readyReplicas ?? 0)
  },
}

function oauthClient(context: EdgeConnectContext): EdgeConnectMaterial['oauthClient'] {
  const registered = isProvisioner(context.primary) ? context.factsOf(registration) : undefined
  return registered?.client ?? { ...userClient(context), resource: context.primary.spec.oauth.resource }
}

function proxyUser(context: EdgeConnectContext): Pick<EdgeConnectMaterial, 'proxyUser'> {
  const name = context.primary.spec.proxy?.authRef
  if (!name) return {}
  const view = viewOf(context)
  const { user, password } = view.secret(name) ?? {}
  if (user !== undefined && password !== undefined) return { proxyUser: { user, password } }
  const where = `spec.proxy.authRef: the Secret ${view.namespace}/${name}`
  throw new ReferenceNotFoundError(`${where} needs the keys user and password`)
}

/** The token of an earlier reconcile, or a new one. */
const automationToken = (context: EdgeConnectContext): string =>
  storedAutomationToken(context.primary, viewOf(context)) ?? makeToken('dt0e01', bytesOf(context))
