/** Gateways: a StatefulSet with its tokens and settings. */
import { ConfigMaps, type PodSpec, Secrets, type StatefulSet, StatefulSets } from '@reeve/kube'
import { type DesiredObject, desired, waiting } from '@reeve/runtime'
import {
  ACTIVE_GATE_SERVICE_ACCOUNT,
  customPropertiesSecretName,
  hasActiveGate,
  hasKubernetesMonitoring,
} from '../../../../api/dynakube/active-gate-facts.ts'
import { imagePullSecretNames, namesOf } from '../../../../api/dynakube/names.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { KeyNotFoundError } from '../../../references/reference-error.ts'
import { ANNOTATIONS, appArmorAnnotation } from '../../../rendering/annotations.ts'
import { rawHash } from '../../../rendering/hashes.ts'
import { volumesOf } from '../../../rendering/mounted-volume.ts'
import { architecturesOf, linuxNodes, onePerNode } from '../../../rendering/placement.ts'
import { placementOf } from '../../../rendering/user-settings.ts'
import { created, kept, objectConditions } from '../../conditions/object-conditions.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf, viewOf } from '../../dynakube-component.ts'
import { isSetReady } from '../../workload-readiness.ts'
import { activeGateConnection } from '../connection/active-gate-connection.ts'
import { kspm } from '../kspm/kspm.ts'
import { tenant } from '../tenant/tenant.ts'
import { activeGateVersion } from '../versions/versions.ts'
import { AUTH_TOKEN_CONDITION, type AuthToken, renderAuthToken, resolveAuthToken } from './auth-token.ts'
import { activeGateCertificate } from './certificate.ts'
import { certificateContainer, GATEWAY_CONTAINER, gatewayContainer } from './containers.ts'
import { type CustomProperties, renderCustomProperties, resolveCustomProperties } from './custom-properties.ts'
import { gatewayLabels } from './labels.ts'
import { activeGateAddress } from './service.ts'
import { CERTIFICATE_FOLDER, gatewayVolumes, isTemporary, servesKspm, temporaryClaim } from './volumes.ts'

const GROUP = 1001

/** What rendering gateways needs. */
export type GatewayFacts = AuthToken & CustomProperties

/** ActiveGate. */
export const activeGate: DynaKubeComponent<GatewayFacts> = {
  name: 'ActiveGate',
  needs: [tenant, activeGateConnection, activeGateVersion, activeGateAddress, activeGateCertificate],
  // Gateways mount the token of KSPM; after it, they start once.
  after: [kspm],
  isEnabled: hasActiveGate,
  isReady: ({ primary, cache }) => isSetReady(namesOf(primary).activeGate, primary, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: ConfigMaps, name: names.activeGateConnectionInfo },
      { resource: Secrets, name: names.activeGateAuthTokenSecret },
      { resource: Secrets, name: customPropertiesSecretName(dynakube) },
      { resource: StatefulSets, name: names.activeGate },
    ]
  },
  async resolve(context) {
    const { primary } = context
    const properties = resolveCustomProperties(primary, viewOf(context))
    // No token is created before it can be stored: the next reconcile would create another one.
    if ((primary.status?.activeGate?.serviceIPs ?? []).length === 0) return waiting('the address of its Service')
    return { ...properties, ...(await resolveAuthToken(context)) }
  },
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const { dynakube } = input
    const { facts } = engineInput
    if ((dynakube.status.activeGate?.serviceIPs ?? []).length === 0) return waiting('the address of its Service')
    if (!dynakube.status.activeGate?.imageID) return waiting('its image')
    return [
      renderConnectionInfo(input),
      ...renderAuthToken(dynakube, facts),
      ...renderCustomProperties(dynakube, facts),
      renderStatefulSet(input, facts),
    ]
  },
  ...objectConditions([
    created('ActiveGateStatefulSet', 'StatefulSet', (dynakube) => namesOf(dynakube).activeGate, {
      unrendered: (failure) => (failure instanceof KeyNotFoundError ? REASONS.kubeApiError : undefined),
    }),
    kept(AUTH_TOKEN_CONDITION, (dynakube) => namesOf(dynakube).activeGateAuthTokenSecret),
    created('CustomPropertiesSecret', 'Secret', customPropertiesSecretName),
  ]),
}

function renderConnectionInfo({ dynakube }: RenderInput): DesiredObject {
  const { tenantUUID, endpoints } = dynakube.status.activeGate?.connectionInfoStatus ?? {}
  return desired(ConfigMaps, {
    metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).activeGateConnectionInfo },
    data: {
      ...(tenantUUID && { 'tenant-uuid': tenantUUID }),
      ...(endpoints && { 'communication-endpoints': endpoints }),
    },
  })
}

function renderStatefulSet(input: RenderInput, facts: GatewayFacts): DesiredObject<StatefulSet> {
  const { dynakube } = input
  const labels = gatewayLabels(input)
  const user = dynakube.spec.activeGate
  const claim = temporaryClaim(dynakube)
  // Left out unless the user decides: an autoscaler then owns the number.
  const replicas = (user?.capabilities ?? []).length === 0 ? 1 : user?.replicas
  const annotations = { ...claim?.annotations, ...user?.annotations }
  return desired(
    StatefulSets,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: namesOf(dynakube).activeGate,
        labels: labels.all,
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      spec: {
        ...(replicas !== undefined && { replicas }),
        podManagementPolicy: 'Parallel',
        ...(user?.rollingUpdate && { updateStrategy: { rollingUpdate: user.rollingUpdate } }),
        selector: { matchLabels: labels.match },
        template: {
          metadata: { labels: { ...user?.labels, ...labels.all }, annotations: podAnnotations(input, facts) },
          spec: podSpec(input, facts),
        },
        ...claim?.spec,
      },
    },
    { onImmutable: 'recreate' },
  )
}

function podAnnotations({ dynakube }: RenderInput, facts: GatewayFacts): Readonly<Record<string, string>> {
  const { status, spec } = dynakube
  const configuration = `${facts.activeGateHashedProperties ?? ''}${facts.activeGateAuthToken.trim()}`
  return {
    [ANNOTATIONS.activeGateConfiguration]: configuration === '' ? '' : rawHash(configuration),
    [ANNOTATIONS.activeGateTenantToken]: status.activeGate?.connectionInfoStatus?.tenantTokenHash ?? '',
    [ANNOTATIONS.splitMounts]: 'true',
    ...spec.activeGate?.annotations,
    ...(featureFlags(dynakube).activeGateAppArmor && { [appArmorAnnotation(GATEWAY_CONTAINER)]: 'runtime/default' }),
    ...(servesKspm(dynakube) && { [ANNOTATIONS.kspmTokenSecret]: status.kspm?.tokenSecretHash ?? '' }),
  }
}

function podSpec(input: RenderInput, facts: GatewayFacts): PodSpec {
  const { dynakube } = input
  const isWatching = hasKubernetesMonitoring(dynakube)
  const volumes = gatewayVolumes(input, facts).filter((mounted) => !isTemporary(mounted) || !temporaryClaim(dynakube))
  return {
    serviceAccountName: ACTIVE_GATE_SERVICE_ACCOUNT,
    automountServiceAccountToken: isWatching,
    securityContext: {
      ...(dynakube.spec.activeGate?.useEphemeralVolume !== true && { fsGroup: GROUP }),
      seccompProfile: { type: 'RuntimeDefault' },
    },
    imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
    affinity: linuxNodes(architecturesOf(dynakube.status.activeGate?.source)),
    topologySpreadConstraints: onePerNode(gatewayLabels(input).match),
    ...placementOf(dynakube.spec.activeGate),
    ...(isWatching && { initContainers: [certificateContainer(input)] }),
    containers: [gatewayContainer(input, facts)],
    volumes: withCertificateFolder(volumesOf(volumes), isWatching),
  }
}

/** Beside the trust store, which is generated there; only the init container mounts it. */
function withCertificateFolder(volumes: NonNullable<PodSpec['volumes']>, isWatching: boolean) {
  if (!isWatching) return volumes
  const at = volumes.findIndex(({ name }) => name === 'truststore-volume') + 1
  return [...volumes.slice(0, at), { name: CERTIFICATE_FOLDER, emptyDir: {} }, ...volumes.slice(at)]
}
