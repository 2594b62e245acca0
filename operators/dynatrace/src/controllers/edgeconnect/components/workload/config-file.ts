/** The configuration file of EdgeConnect, with its credentials. */
import { hasKubernetesAutomation } from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../../../../api/latest.ts'
import { type YamlTree, yamlText } from '../../../rendering/yaml-text.ts'

/** Where certificates of the user are mounted. */
export const CERTIFICATE_FOLDER = '/etc/edge_connect_certs'
export const CERTIFICATE_FILE = 'certificate.pem'

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const KUBERNETES_API = 'kubernetes.default.svc.cluster.local'

/** The content of the file besides the spec. */
export interface EdgeConnectMaterial {
  /** Of the user, or created by the operator in the tenant. */
  readonly oauthClient: { readonly id: string; readonly secret: string; readonly resource: string }
  /** Of the Secret that `spec.proxy.authRef` names. */
  readonly proxyUser?: { readonly user: string; readonly password: string }
  /** With which workflows prove to EdgeConnect that they may use the service account. */
  readonly automationToken?: string
}

/** Renders the file. */
export function configFile(edgeConnect: EdgeConnect, material: EdgeConnectMaterial): string {
  const { metadata, spec } = edgeConnect
  const { id, secret, resource } = material.oauthClient
  const restrictions = spec.hostRestrictions ?? []
  const tree: YamlTree = {
    name: metadata.name ?? '',
    api_endpoint_host: spec.apiServer,
    oauth: { endpoint: spec.oauth.endpoint, client_id: id, client_secret: secret, resource },
    ...(restrictions.length > 0 && { restrict_hosts_to: restrictions }),
    root_certificate_paths: [
      ...(spec.caCertsRef ? [`${CERTIFICATE_FOLDER}/${CERTIFICATE_FILE}`] : []),
      `${SERVICE_ACCOUNT}/ca.crt`,
    ],
    ...(spec.proxy && { proxy: proxyOf(spec.proxy, material) }),
    ...(hasKubernetesAutomation(edgeConnect) && { secrets: [automationSecret(material)] }),
  }
  return yamlText(tree, { keys: 'as given' })
}

function proxyOf(proxy: NonNullable<EdgeConnect['spec']['proxy']>, { proxyUser }: EdgeConnectMaterial): YamlTree {
  return {
    ...(proxyUser && { auth: { user: proxyUser.user, password: proxyUser.password } }),
    server: proxy.host ?? '',
    exceptions: proxy.noProxy ?? '',
    port: proxy.port ?? 0,
  }
}

function automationSecret({ automationToken }: EdgeConnectMaterial): YamlTree {
  return {
    name: 'K8S_SERVICE_ACCOUNT_TOKEN',
    token: automationToken ?? '',
    from_file: `${SERVICE_ACCOUNT}/token`,
    restrict_hosts_to: [KUBERNETES_API],
  }
}
