/** All objects of an EdgeConnect, as a value. */
import { type Container, type Deployment, Deployments, type PodSpec, Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { configSecretName, serviceAccountName } from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../../../../api/latest.ts'
import { ANNOTATIONS, appArmorAnnotation } from '../../../rendering/annotations.ts'
import { lastOfEachName } from '../../../rendering/container-env.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { pullPolicyOf } from '../../../rendering/image.ts'
import { appLabels } from '../../../rendering/labels.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { unprivileged } from '../../../rendering/security-context.ts'
import { withTemplateHash } from '../../../rendering/template-hash.ts'
import { containerEnvFrom, placementOf, resourcesFrom } from '../../../rendering/user-settings.ts'
import { CONFIG_FILE } from '../../config-secret.ts'
import { CERTIFICATE_FILE, CERTIFICATE_FOLDER, configFile, type EdgeConnectMaterial } from './config-file.ts'

const APP = 'edgeconnect'
const CONTAINER = 'edge-connect'
const USER = 1000
const GRACE_SECONDS = 30
const DEFAULT_AMOUNTS = { cpu: '100m', memory: '128Mi' }

/** The input of rendering. */
export interface EdgeConnectInput {
  /** With the status as this reconcile will write it. */
  readonly edgeConnect: EdgeConnect
  readonly material: EdgeConnectMaterial
}

/**
 * The Secret with the configuration and the Deployment that reads it.
 *
 * @example
 * const objects = renderEdgeConnect({ edgeConnect, material })
 */
export function renderEdgeConnect({ edgeConnect, material }: EdgeConnectInput): readonly DesiredObject[] {
  const data = encodeSecret({ [CONFIG_FILE]: configFile(edgeConnect, material) })
  const { namespace } = edgeConnect.metadata
  const secret = desired(Secrets, { metadata: { namespace, name: configSecretName(edgeConnect) }, data })
  return [secret, renderDeployment(edgeConnect, hashOf(data))].map(withTemplateHash)
}

function renderDeployment(edgeConnect: EdgeConnect, configHash: string): DesiredObject<Deployment> {
  const { metadata, spec } = edgeConnect
  const labels = appLabels({ name: APP, owner: metadata.name ?? '', component: 'user-provisioned', version: '' })
  return desired(
    Deployments,
    {
      metadata: {
        namespace: metadata.namespace,
        name: metadata.name,
        labels: labels.all,
        annotations: { [appArmorAnnotation(CONTAINER)]: 'runtime/default', [ANNOTATIONS.inject]: 'false' },
      },
      spec: {
        ...(spec.replicas !== undefined && spec.replicas !== null && { replicas: spec.replicas }),
        selector: { matchLabels: labels.match },
        template: {
          metadata: {
            labels: { ...spec.labels, ...labels.all },
            annotations: { ...spec.annotations, [ANNOTATIONS.edgeConnectSecret]: configHash },
          },
          spec: podSpec(edgeConnect),
        },
      },
    },
    { onImmutable: 'recreate' },
  )
}

function podSpec(edgeConnect: EdgeConnect): PodSpec {
  const { metadata, spec } = edgeConnect
  const account = serviceAccountName(edgeConnect)
  const items = [{ key: 'certs', path: CERTIFICATE_FILE }]
  return {
    serviceAccountName: account,
    serviceAccount: account,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...(spec.customPullSecret && { imagePullSecrets: [{ name: spec.customPullSecret }] }),
    ...placementOf(spec),
    containers: [container(edgeConnect)],
    volumes: [
      {
        name: `${metadata.name}-ec-vm`,
        secret: { secretName: configSecretName(edgeConnect), items: [{ key: CONFIG_FILE, path: CONFIG_FILE }] },
      },
      ...(spec.caCertsRef ? [{ name: 'ca-certs', configMap: { name: spec.caCertsRef, items } }] : []),
    ],
  }
}

function container({ metadata, spec, status }: EdgeConnect): Container {
  const resources = resourcesFrom(spec.resources)
  const env = lastOfEachName(containerEnvFrom(spec.env))
  return {
    name: CONTAINER,
    image: status?.version?.imageID ?? '',
    imagePullPolicy: pullPolicyOf(spec.imageRef?.pullPolicy),
    ...(env.length > 0 && { env }),
    // Each is replaced as a whole, as users expect who write only one.
    resources: { requests: resources?.requests ?? DEFAULT_AMOUNTS, limits: resources?.limits ?? DEFAULT_AMOUNTS },
    securityContext: unprivileged(USER),
    volumeMounts: [
      { name: `${metadata.name}-ec-vm`, mountPath: `/${CONFIG_FILE}`, subPath: CONFIG_FILE },
      ...(spec.caCertsRef ? [{ name: 'ca-certs', mountPath: CERTIFICATE_FOLDER }] : []),
    ],
  }
}
