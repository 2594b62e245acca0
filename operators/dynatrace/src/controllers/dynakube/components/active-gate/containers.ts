/** The containers of gateways. */
import type { Container, EnvVar } from '@reeve/kube'
import { capabilityArguments, hasCapability } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { fromConfigMap, PRIORITY, tenantOf } from '../../../rendering/container-env.ts'
import { pullPolicyOf } from '../../../rendering/image.ts'
import { mountsOf } from '../../../rendering/mounted-volume.ts'
import { restricted } from '../../../rendering/security-context.ts'
import { containerEnvFrom, resourcesFrom } from '../../../rendering/user-settings.ts'
import type { RenderInput } from '../../dynakube-component.ts'
import { activeGateHost, bracketed } from '../../no-proxy.ts'
import type { CustomProperties } from './custom-properties.ts'
import { CERTIFICATE_FOLDER, GATEWAY_FOLDER, gatewayVolumes, TRUST_STORE } from './volumes.ts'

/** The container of the gateway. */
export const GATEWAY_CONTAINER = 'activegate'

const USER = 1001
const HTTPS_PORT = 9999
const HTTP_PORT = 9998

function common({ dynakube }: RenderInput): Pick<Container, 'image' | 'imagePullPolicy' | 'resources'> {
  const resources = resourcesFrom(dynakube.spec.activeGate?.resources)
  return {
    image: dynakube.status.activeGate?.imageID ?? '',
    imagePullPolicy: pullPolicyOf(dynakube.spec.activeGate?.imagePullPolicy),
    ...(resources && { resources }),
  }
}

/** The gateway itself. */
export function gatewayContainer(input: RenderInput, properties: CustomProperties): Container {
  return {
    name: GATEWAY_CONTAINER,
    ...common(input),
    ports: [
      { name: 'https', containerPort: HTTPS_PORT },
      { name: 'http', containerPort: HTTP_PORT },
    ],
    env: containerEnv(input),
    readinessProbe: {
      httpGet: { path: '/rest/health', port: 'https', scheme: 'HTTPS' },
      initialDelaySeconds: 90,
      periodSeconds: 15,
      failureThreshold: 3,
      timeoutSeconds: 2,
    },
    livenessProbe: {
      httpGet: { path: '/rest/state', port: HTTPS_PORT, scheme: 'HTTPS' },
      initialDelaySeconds: 90,
      periodSeconds: 30,
      failureThreshold: 2,
      timeoutSeconds: 1,
      successThreshold: 1,
    },
    securityContext: restricted(USER),
    volumeMounts: mountsOf(gatewayVolumes(input, properties)),
  }
}

/** Makes the certificate of the cluster known to Java, for gateways that talk to its API server. */
export function certificateContainer(input: RenderInput): Container {
  return {
    name: 'certificate-loader',
    ...common(input),
    workingDir: GATEWAY_FOLDER,
    command: ['/bin/bash'],
    args: ['-c', '/opt/dynatrace/gateway/k8scrt2jks.sh'],
    securityContext: restricted(USER),
    volumeMounts: [
      { name: TRUST_STORE, mountPath: `${GATEWAY_FOLDER}/ssl` },
      { name: CERTIFICATE_FOLDER, mountPath: GATEWAY_FOLDER },
    ],
  }
}

function containerEnv({ dynakube }: RenderInput): readonly EnvVar[] {
  const { deploymentMetadata, activeGateConnectionInfo } = namesOf(dynakube)
  const { activeGate, networkZone } = dynakube.spec
  const derived = { priority: PRIORITY.derived }
  return tenantOf(
    [
      { name: 'DT_CAPABILITIES', value: capabilityArguments(dynakube).join(',') },
      fromConfigMap('DT_DEPLOYMENT_METADATA', deploymentMetadata, 'activegate'),
      { name: 'DT_DNS_ENTRY_POINT', value: entryPoints(dynakube).join(','), ...derived },
      ...(activeGate?.group ? [{ name: 'DT_GROUP', value: activeGate.group }] : []),
      { name: 'DT_HTTP_PORT', value: String(HTTP_PORT) },
      { name: 'DT_ID_SEED_K8S_CLUSTER_ID', value: dynakube.status.kubeSystemUUID ?? '' },
      { name: 'DT_ID_SEED_NAMESPACE', value: dynakube.metadata.namespace ?? '' },
      ...(networkZone ? [{ name: 'DT_NETWORK_ZONE', value: networkZone }] : []),
      { ...fromConfigMap('DT_SERVER', activeGateConnectionInfo, 'communication-endpoints'), ...derived },
      { ...fromConfigMap('DT_TENANT', activeGateConnectionInfo, 'tenant-uuid'), ...derived },
    ],
    containerEnvFrom(activeGate?.env),
  )
}

/** The addresses that gateways announce to agents. */
function entryPoints(dynakube: RenderInput['dynakube']): readonly string[] {
  const hosts = (dynakube.status.activeGate?.serviceIPs ?? []).map(bracketed)
  const named = hasCapability(dynakube, 'routing') ? [...hosts, activeGateHost(dynakube)] : hosts
  return named.map((host) => `https://${host}:443/communication`)
}
