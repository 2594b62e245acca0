/** The controller that runs extensions. */
import { type Container, type EnvVar, type PodSpec, type StatefulSet, StatefulSets } from '@reeve/kube'
import { type DesiredObject, desired, waiting } from '@reeve/runtime'
import { activeGateTlsSecretName, hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasExtensions, hasPrometheus } from '../../../../api/dynakube/feature-facts.ts'
import {
  EXTENSION_CONTROLLER_PORT,
  extensionControllerHost,
  extensionControllerTlsSecretName,
  imagePullSecretNames,
  namesOf,
} from '../../../../api/dynakube/names.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { imageOf, pullPolicyOf } from '../../../rendering/image.ts'
import { type Mounted, mountsOf, volumesOf } from '../../../rendering/mounted-volume.ts'
import { linuxNodes, onePerNode } from '../../../rendering/placement.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { restricted } from '../../../rendering/security-context.ts'
import { interchangeable } from '../../../rendering/stateful-set.ts'
import { claimFrom, placementOf, resourcesFrom } from '../../../rendering/user-settings.ts'
import { type Claimed, claimed, claimOf, DEFAULT_CLAIM } from '../../../rendering/volume-claims.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { REASONS } from '../../conditions/reasons.ts'
import {
  type DynaKubeComponent,
  type DynaKubeInput,
  type RenderInput,
  renderInputOf,
} from '../../dynakube-component.ts'
import { activeGateHost } from '../../no-proxy.ts'
import { isSetReady } from '../../workload-readiness.ts'
import { activeGateAddress } from '../active-gate/service.ts'
import { activeGateConnection } from '../connection/active-gate-connection.ts'
import { tenant } from '../tenant/tenant.ts'
import { extensions, extensionsTlsData } from './extensions.ts'
import { controllerLabels, EXTENSION_CONTROLLER, EXTENSION_TOKEN_KEYS } from './names.ts'

const USER = 1001
const READABLE = 0o644
const MODULE = '/opt/dynatrace/remotepluginmodule/agent'
const HOME = '/var/lib/dynatrace/remotepluginmodule'
const RUNTIME = 'agent-runtime'

const hasLegacyMounts = (dynakube: DynaKube): boolean => featureFlags(dynakube).extensionControllerLegacyMounts

/** Where Secrets and ConfigMaps are mounted: below the home of the controller, or outside of it. */
const secretsFolder = (dynakube: DynaKube): string => (hasLegacyMounts(dynakube) ? `${HOME}/secrets` : '/secrets')

/** The type of an earlier release; it is removed. */
const FORMER_CONDITION = 'ExtensionsControllerStatefulSet'

const conditions = objectConditions([
  created('ExtensionControllerStatefulSet', 'StatefulSet', (dynakube) => namesOf(dynakube).extensionController, {
    unrendered: (failure) => (failure instanceof ReferenceNotFoundError ? REASONS.kubeApiError : undefined),
    whileWaiting: 'StatefulSetOutdated',
  }),
])

/** The extension controller. */
export const extensionController: DynaKubeComponent = {
  name: 'extension controller',
  needs: [tenant, extensions],
  after: [activeGateConnection, activeGateAddress],
  isEnabled: hasExtensions,
  isReady: ({ primary, cache }) =>
    !hasPrometheus(primary) || isSetReady(namesOf(primary).extensionController, primary, cache),
  mayOwn: (dynakube) => [{ resource: StatefulSets, name: namesOf(dynakube).extensionController }],
  render(input) {
    const { status } = input.primary
    if (!status?.activeGate?.connectionInfoStatus?.tenantUUID) return waiting('the UUID of the tenant')
    if (!status.kubeSystemUUID) return waiting('the UID of the cluster')
    return [renderStatefulSet(renderInputOf(input), extensionsSecretHash(input))]
  },
  conditions: conditions.conditions,
  report(outcome, reporter) {
    reporter.removeConditions(FORMER_CONDITION)
    conditions.report(outcome, reporter)
  },
}

const templateOf = ({ spec }: DynaKube) => spec.templates?.extensionExecutionController

function renderStatefulSet(
  input: RenderInput,
  secretHash: Readonly<Record<string, string>>,
): DesiredObject<StatefulSet> {
  const { dynakube } = input
  const labels = controllerLabels(dynakube)
  const template = templateOf(dynakube)
  const claim = runtimeClaim(dynakube)
  return desired(
    StatefulSets,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: namesOf(dynakube).extensionController,
        labels: labels.all,
        ...(claim && { annotations: claim.annotations }),
      },
      spec: {
        ...interchangeable({ labels, template, hashes: secretHash, replicas: 1, spec: podSpec(input) }),
        ...claim?.spec,
      },
    },
    { onImmutable: 'recreate' },
  )
}

/** Annotations of pods that read the certificate of the controller: they restart when it changes. */
export const extensionsSecretHash = (input: DynaKubeInput): Readonly<Record<string, string>> => ({
  [ANNOTATIONS.extensionsSecret]: hashOf(encodeSecret(extensionsTlsData(input))),
})

function runtimeClaim(dynakube: DynaKube): Claimed | undefined {
  const { persistentVolumeClaim, useEphemeralVolume } = templateOf(dynakube) ?? {}
  if (useEphemeralVolume) return undefined
  // Without legacy mounts the whole home is on the volume, and not only one folder of it.
  const byDefault = hasLegacyMounts(dynakube) ? DEFAULT_CLAIM : claimOf('2Gi')
  return claimed(RUNTIME, persistentVolumeClaim ? claimFrom(persistentVolumeClaim) : byDefault)
}

function podSpec(input: RenderInput): PodSpec {
  const { dynakube } = input
  const { tolerations, topologySpreadConstraints } = placementOf(templateOf(dynakube))
  const isEphemeral = runtimeClaim(dynakube) === undefined
  return {
    serviceAccountName: EXTENSION_CONTROLLER,
    serviceAccount: EXTENSION_CONTROLLER,
    securityContext: { ...(!isEphemeral && { fsGroup: USER }), seccompProfile: { type: 'RuntimeDefault' } },
    imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
    affinity: linuxNodes('all'),
    topologySpreadConstraints: topologySpreadConstraints ?? onePerNode(controllerLabels(dynakube).match),
    ...(tolerations && { tolerations }),
    containers: [container(input)],
    volumes: volumesOf(files(dynakube).volumes),
  }
}

function container(input: RenderInput): Container {
  const { dynakube } = input
  const { port } = EXTENSION_CONTROLLER_PORT
  const resources = resourcesFrom(templateOf(dynakube)?.resources)
  return {
    name: 'extension-controller',
    image: imageOf(templateOf(dynakube)?.imageRef),
    imagePullPolicy: pullPolicyOf(templateOf(dynakube)?.imageRef?.pullPolicy),
    ports: [{ name: 'collector-com', containerPort: port }],
    env: containerEnv(dynakube),
    ...(resources && { resources }),
    readinessProbe: {
      httpGet: { path: '/readyz', port, scheme: 'HTTPS' },
      initialDelaySeconds: 15,
      periodSeconds: 15,
      failureThreshold: 3,
      timeoutSeconds: 2,
      successThreshold: 1,
    },
    securityContext: restricted(USER),
    volumeMounts: mountsOf(files(dynakube).mounts),
  }
}

function containerEnv(dynakube: RenderInput['dynakube']): readonly EnvVar[] {
  const { activeGate, kubeSystemUUID = '' } = dynakube.status
  const { customConfig, customExtensionCertificates } = templateOf(dynakube) ?? {}
  const secrets = secretsFolder(dynakube)
  const values: readonly (readonly [string, string])[] = [
    ['TenantId', activeGate?.connectionInfoStatus?.tenantUUID ?? ''],
    ['ServerUrl', `${activeGateHost(dynakube)}:443`],
    ['EecTokenPath', `${secrets}/tokens/${EXTENSION_TOKEN_KEYS.controller}`],
    ['EecIngestPort', String(EXTENSION_CONTROLLER_PORT.port)],
    ['ExtensionsModuleExecPath', `${MODULE}/lib64/extensionsmodule`],
    ['DsInstallDir', `${MODULE}/datasources`],
    ['K8sClusterUID', kubeSystemUUID],
    ['K8sExtServiceUrl', `https://${extensionControllerHost(dynakube)}`],
    ['DSTokenPath', `${secrets}/tokens/${EXTENSION_TOKEN_KEYS.datasource}`],
    ['DsHttpsCertPathPem', `${secrets}/https/tls.crt`],
    ['DsHttpsPrivKeyPathPem', `${secrets}/https/tls.key`],
    ...(hasActiveGateCertificate(dynakube) ? [['ActiveGateTrustedCert', `${secrets}/ag/server.crt`] as const] : []),
    ...(customConfig ? [['RuntimeConfigMountPath', `${secrets}/config/runtimeConfiguration`] as const] : []),
    ...(customExtensionCertificates ? [['ExtensionCustomCertificateMountPath', `${secrets}/extensions`] as const] : []),
  ]
  return values.map(([variable, value]) => ({ name: variable, value }))
}

/** Volumes of the pod and mounts of the container, each in the order of earlier releases. */
function files(dynakube: DynaKube): { readonly volumes: readonly Mounted[]; readonly mounts: readonly Mounted[] } {
  const isLegacy = hasLegacyMounts(dynakube)
  const first = [tokens(dynakube), ...(isLegacy ? [folder('log', `${HOME}/log`)] : [])]
  const runtime = folder(RUNTIME, isLegacy ? `${HOME}/agent/runtime` : HOME)
  const then = [
    ...(isLegacy ? [folder('runtime-configuration', `${HOME}/agent/conf`)] : []),
    secret('https-certs', extensionControllerTlsSecretName(dynakube), `${secretsFolder(dynakube)}/https`),
  ]
  const optional = optionalFiles(dynakube)
  // A claimed volume has no entry.
  const ephemeral = runtimeClaim(dynakube) === undefined ? [runtime] : []
  return {
    volumes: [...first, ...then, ...ephemeral, ...optional],
    mounts: [...first, runtime, ...then, ...optional],
  }
}

const folder = (name: string, mountPath: string): Mounted => ({ volume: { name, emptyDir: {} }, mount: { mountPath } })

const secret = (name: string, secretName: string, mountPath: string): Mounted => ({
  volume: { name, secret: { secretName } },
  mount: { mountPath, readOnly: true },
})

const tokens = (dynakube: DynaKube): Mounted => ({
  volume: { name: 'tokens', secret: { secretName: namesOf(dynakube).extensionsTokenSecret, defaultMode: READABLE } },
  mount: { mountPath: `${secretsFolder(dynakube)}/tokens`, readOnly: true },
})

function optionalFiles(dynakube: DynaKube): readonly Mounted[] {
  const { customConfig, customExtensionCertificates } = templateOf(dynakube) ?? {}
  const config = (name: string): Mounted => ({
    volume: { name: 'custom-config', configMap: { name } },
    mount: { mountPath: `${secretsFolder(dynakube)}/config`, readOnly: true },
  })
  return [
    ...(customConfig ? [config(customConfig)] : []),
    ...gatewayCertificate(dynakube),
    ...(customExtensionCertificates
      ? [secret('extension-custom-certs', customExtensionCertificates, `${secretsFolder(dynakube)}/extensions`)]
      : []),
  ]
}

function gatewayCertificate(dynakube: DynaKube): readonly Mounted[] {
  if (!hasActiveGateCertificate(dynakube)) return []
  const key = 'server.crt'
  return [
    {
      volume: {
        name: 'server-certs',
        secret: {
          secretName: activeGateTlsSecretName(dynakube),
          defaultMode: READABLE,
          items: [{ key, path: key }],
        },
      },
      mount: { mountPath: `${secretsFolder(dynakube)}/ag`, readOnly: true },
    },
  ]
}
