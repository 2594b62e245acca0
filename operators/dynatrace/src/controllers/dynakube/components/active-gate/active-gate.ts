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
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { placementOf } from '../../../rendering/user-settings.ts'
import { type Component, known, NotYetKnownError } from '../../component.ts'
import { CONDITIONS, REASONS } from '../../condition-types.ts'
import { created, kept } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { resolveCustomProperties } from '../../resolve/referenced.ts'
import { isSetReady } from '../../workload-readiness.ts'
import { activeGateTenantSecret } from '../connection/tenant-secrets.ts'
import { kspm } from '../kspm/kspm.ts'
import { activeGateVersion } from '../versions/versions.ts'
import { AUTH_TOKEN_KEY, resolveAuthToken } from './auth-token.ts'
import { activeGateCertificate } from './certificate.ts'
import { certificateContainer, GATEWAY_CONTAINER, gatewayContainer } from './containers.ts'
import { renderCustomProperties } from './custom-properties.ts'
import { gatewayLabels } from './labels.ts'
import { activeGateAddress } from './service.ts'
import { CERTIFICATE_FOLDER, gatewayVolumes, isTemporary, servesKspm, temporaryClaim } from './volumes.ts'

const GROUP = 1001

/** ActiveGate. */
export const activeGate: Component = {
  name: 'ActiveGate',
  needs: [activeGateTenantSecret, activeGateVersion, activeGateAddress, activeGateCertificate],
  after: [kspm],
  isEnabled: hasActiveGate,
  async resolve(pass) {
    const { dynakube } = pass.draft
    const properties = resolveCustomProperties(dynakube, pass.view)
    // A token that cannot be kept is not asked for: the next reconcile would ask for another one.
    if ((dynakube.status.activeGate?.serviceIPs ?? []).length === 0) return waiting('the address of its Service')
    return { ...properties, ...(await resolveAuthToken(pass)) }
  },
  conditions: (dynakube) => [
    created('ActiveGateStatefulSet', 'StatefulSet', namesOf(dynakube).activeGate, {
      unrendered: (failure) => (failure instanceof KeyNotFoundError ? REASONS.kubeApiError : undefined),
    }),
    kept(CONDITIONS.activeGateAuthToken, namesOf(dynakube).activeGateAuthTokenSecret),
    created('CustomPropertiesSecret', 'Secret', customPropertiesSecretName(dynakube)),
  ],
  isReady: (dynakube, cache) => isSetReady(namesOf(dynakube).activeGate, dynakube, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: ConfigMaps, name: names.activeGateConnectionInfo },
      { resource: Secrets, name: names.activeGateAuthTokenSecret },
      { resource: Secrets, name: customPropertiesSecretName(dynakube) },
      { resource: StatefulSets, name: names.activeGate },
    ]
  },
  render(input) {
    const { dynakube } = input
    if (!hasActiveGate(dynakube)) return []
    if ((dynakube.status.activeGate?.serviceIPs ?? []).length === 0) {
      throw new NotYetKnownError('ActiveGate', 'the address of its Service')
    }
    return [
      renderConnectionInfo(input),
      ...renderAuthToken(input),
      ...renderCustomProperties(input),
      renderStatefulSet(input),
    ]
  },
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

const authTokenOf = ({ material }: RenderInput): string =>
  known(material.activeGateAuthToken, 'ActiveGate', 'its token')

function renderAuthToken(input: RenderInput): readonly DesiredObject[] {
  const { dynakube, material } = input
  if (material.isActiveGateAuthTokenOutdated) return []
  const secret = desired(Secrets, {
    metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).activeGateAuthTokenSecret },
    data: encodeSecret({ [AUTH_TOKEN_KEY]: authTokenOf(input) }),
  })
  return [secret]
}

function renderStatefulSet(input: RenderInput): DesiredObject<StatefulSet> {
  const { dynakube } = input
  const labels = gatewayLabels(input)
  const user = dynakube.spec.activeGate
  const claim = temporaryClaim(dynakube)
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
        selector: { matchLabels: labels.match },
        template: {
          metadata: { labels: { ...user?.labels, ...labels.all }, annotations: podAnnotations(input) },
          spec: podSpec(input),
        },
        ...claim?.spec,
      },
    },
    { onImmutable: 'recreate' },
  )
}

function podAnnotations(input: RenderInput): Readonly<Record<string, string>> {
  const { dynakube, material } = input
  const { status, spec } = dynakube
  const configuration = `${material.activeGateHashedProperties ?? ''}${authTokenOf(input).trim()}`
  return {
    [ANNOTATIONS.activeGateConfiguration]: configuration === '' ? '' : rawHash(configuration),
    [ANNOTATIONS.activeGateTenantToken]: status.activeGate?.connectionInfoStatus?.tenantTokenHash ?? '',
    [ANNOTATIONS.splitMounts]: 'true',
    ...spec.activeGate?.annotations,
    ...(featureFlags(dynakube).activeGateAppArmor && { [appArmorAnnotation(GATEWAY_CONTAINER)]: 'runtime/default' }),
    ...(servesKspm(dynakube) && { [ANNOTATIONS.kspmTokenSecret]: status.kspm?.tokenSecretHash ?? '' }),
  }
}

function podSpec(input: RenderInput): PodSpec {
  const { dynakube } = input
  const isWatching = hasKubernetesMonitoring(dynakube)
  const volumes = gatewayVolumes(input).filter((mounted) => !isTemporary(mounted) || !temporaryClaim(dynakube))
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
    containers: [gatewayContainer(input)],
    volumes: withCertificateFolder(volumesOf(volumes), isWatching),
  }
}

/** Stands next to the trust store that is made in it; only the init container mounts it. */
function withCertificateFolder(volumes: NonNullable<PodSpec['volumes']>, isWatching: boolean) {
  if (!isWatching) return volumes
  const at = volumes.findIndex(({ name }) => name === 'truststore-volume') + 1
  return [...volumes.slice(0, at), { name: CERTIFICATE_FOLDER, emptyDir: {} }, ...volumes.slice(at)]
}
