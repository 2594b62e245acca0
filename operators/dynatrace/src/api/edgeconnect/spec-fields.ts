/** Fields of an EdgeConnect that both versions share, and what surrounds them. */
import type { PrinterColumn } from '@reeve/crd'
import { containerEnv } from '../core/environment-variables.ts'
import { resources } from '../core/resources.ts'
import { nodeSelector, tolerations, topologySpreadConstraints } from '../core/scheduling.ts'
import {
  flag,
  group,
  int32,
  requiredGroup,
  requiredText,
  text,
  textList,
  textMap,
  time,
  versionStatus,
} from '../fields/fields.ts'

/** Fields of every version. */
export const specFields = {
  apiServer: requiredText('The tenant by its host name, without a protocol, such as abc12345.apps.dynatrace.com.'),
  oauth: requiredGroup(
    {
      clientSecret: requiredText('A Secret with the OAuth client: oauth-client-id and oauth-client-secret.'),
      endpoint: requiredText('The token endpoint, such as https://sso.dynatrace.com/sso/oauth2/token.'),
      resource: requiredText('The account, such as urn:dtenvironment:abc12345.'),
      provisioner: flag('Whether the operator creates the EdgeConnect in the tenant, with its own OAuth client.'),
    },
    'How it proves who it is.',
  ),
  hostPatterns: textList('Hosts that requests from the tenant are sent to, such as *.internal.org.'),
  kubernetesAutomation: group(
    { enabled: flag('Switches it on. Needs oauth.provisioner.') },
    'Allows workflows of the tenant to call the Kubernetes API of this cluster.',
  ),
  caCertsRef: text('A ConfigMap whose key certs has certificates (PEM) to trust besides the well-known ones.'),
  proxy: group(
    {
      host: text('Name or address.'),
      port: int32('The port.'),
      noProxy: text('Hosts that are reached directly, separated by commas.'),
      authRef: text('A Secret with user and password.'),
    },
    'The proxy between the cluster and the tenant.',
  ),
  customPullSecret: text('A Secret with the credentials of a private registry.'),
  resources: resources('CPU and memory of each replica.'),
  env: containerEnv('the container'),
  nodeSelector: nodeSelector('a replica'),
  tolerations: tolerations('the replicas'),
  topologySpreadConstraints: topologySpreadConstraints('the replicas'),
  labels: textMap('More labels on the pods.'),
  annotations: textMap('More annotations on the pods.'),
}

/** Fields of every status. */
export const statusFields = {
  phase: text('Running, Deploying or Error.'),
  updatedTimestamp: time('When this status was last written.'),
  kubeSystemUID: text('Identifies the cluster: the UID of its namespace kube-system.'),
  version: versionStatus('EdgeConnect'),
}

/** What is said about fields whose type differs between versions. */
export const ABOUT = {
  spec: { description: 'What it connects, and how.' },
  status: { description: 'What the operator observed.' },
  replicas: 'How many replicas run.',
  autoUpdate: 'Whether pods are restarted when there is a new image; they are when left out.',
  serviceAccountName: 'The service account of the pods; dynatrace-edgeconnect when left out.',
  hostRestrictions: 'Hosts that it may connect to; all when left out',
  imageRef: 'The image; each half that is left out is that of docker.io/dynatrace/edgeconnect:latest.',
}

/** What `kubectl explain edgeconnect` begins with. */
export const DESCRIPTION = 'Lets a tenant reach hosts inside the cluster network, by a connection from within.'

/** Columns of `kubectl get edgeconnects`. */
export const COLUMNS: readonly PrinterColumn[] = [
  { name: 'ApiServer', type: 'string', jsonPath: '.spec.apiServer' },
  { name: 'Status', type: 'string', jsonPath: '.status.phase' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]
