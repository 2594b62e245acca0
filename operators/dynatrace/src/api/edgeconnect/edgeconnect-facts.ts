/** What follows from an EdgeConnect: names, image, service account and hosts. */
import type { EdgeConnect } from '../latest.ts'

const DEFAULT_IMAGE = { repository: 'docker.io/dynatrace/edgeconnect', tag: 'latest' }

/** The service account of pods that name none. */
export const DEFAULT_SERVICE_ACCOUNT = 'dynatrace-edgeconnect'

/** Where workflows reach the Kubernetes API. */
const KUBERNETES_API = 'kubernetes.default.svc.cluster.local'

/** The generated Secret with the configuration. */
export const configSecretName = ({ metadata }: EdgeConnect): string => `${metadata.name}-ec-yaml`

/** The Secret of the OAuth client that the operator makes in provisioner mode. */
export const clientSecretName = ({ metadata }: EdgeConnect): string => `${metadata.name}-client`

/** The image; each half has its own default. */
export function edgeConnectImage({ spec }: EdgeConnect): string {
  const { repository, tag } = spec.imageRef ?? {}
  return `${repository || DEFAULT_IMAGE.repository}:${tag || DEFAULT_IMAGE.tag}`
}

/** Whether the image is the user's own. */
export const isCustomImage = ({ spec }: EdgeConnect): boolean => Boolean(spec.imageRef?.repository)

/** Whether pods are restarted for new images. */
export const isAutoUpdated = ({ spec }: EdgeConnect): boolean => spec.autoUpdate ?? true

/** The service account; empty only when the user wrote that, which admission rejects. */
export const serviceAccountName = ({ spec }: EdgeConnect): string => spec.serviceAccountName ?? DEFAULT_SERVICE_ACCOUNT

/** Whether the operator creates the EdgeConnect in the tenant. */
export const isProvisioner = ({ spec }: EdgeConnect): boolean => spec.oauth?.provisioner === true

/** Whether workflows may call the Kubernetes API. */
export const hasKubernetesAutomation = ({ spec }: EdgeConnect): boolean => spec.kubernetesAutomation?.enabled === true

/** The host by which workflows mean the Kubernetes API of this cluster. */
export const automationHost = ({ metadata, status }: EdgeConnect): string =>
  `${metadata.name}.${metadata.namespace}.${status?.kubeSystemUID ?? ''}.kubernetes-automation`

/** The host patterns: with automation its host comes last, once, however the user spelled it. */
export function hostPatterns(edgeConnect: EdgeConnect): readonly string[] {
  const given = edgeConnect.spec.hostPatterns ?? []
  if (!hasKubernetesAutomation(edgeConnect)) return given
  const host = automationHost(edgeConnect)
  return [...given.filter((pattern) => pattern.toLowerCase() !== host.toLowerCase()), host]
}

/** Where requests for the automation host go. */
export const hostMappings = (edgeConnect: EdgeConnect): readonly { readonly from: string; readonly to: string }[] => [
  { from: automationHost(edgeConnect), to: KUBERNETES_API },
]
