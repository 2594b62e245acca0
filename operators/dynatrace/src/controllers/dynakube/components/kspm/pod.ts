/** The pod of a collector of node configurations. */
import { posix } from 'node:path'
import type { Container, EnvVar, PodSpec, ResourceRequirements, VolumeMount } from '@reeve/kube'
import { activeGateTlsSecretName, hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { kspmHostPaths } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { fromField, lastOfEachName } from '../../../rendering/container-env.ts'
import { imageOf, pullPolicyOf } from '../../../rendering/image.ts'
import { type Mounted, mountsOf, volumesOf } from '../../../rendering/mounted-volume.ts'
import { unprivileged } from '../../../rendering/security-context.ts'
import { containerEnvFrom, placementOf, resourcesFrom } from '../../../rendering/user-settings.ts'
import type { RenderInput } from '../../dynakube-component.ts'
import { activeGateHost } from '../../no-proxy.ts'

const SERVICE_ACCOUNT = 'dynatrace-node-config-collector'
const USER = 65532
const NODE_ROOT = '/node_root'
const CERTIFICATE_FILE = '/var/lib/dynatrace/ncc/customkeys/ca-chain.pem'
const TOKEN_FILE = '/var/lib/dynatrace/secrets/tokens/kspm/node-configuration-collector'
const FALLBACK_IMAGE = {
  repository: 'public.ecr.aws/dynatrace/dynatrace-k8s-node-config-collector',
  tag: 'latest',
}
const DEFAULT_RESOURCES = { cpu: '100m', memory: '128Mi' }

/** Everything but what all workloads have in common. */
export function collectorPod(input: RenderInput): PodSpec {
  const mounted = [...hostPaths(input), token(input), ...certificate(input)]
  return {
    serviceAccountName: SERVICE_ACCOUNT,
    serviceAccount: SERVICE_ACCOUNT,
    automountServiceAccountToken: false,
    hostPID: true,
    ...placementOf(input.dynakube.spec.templates?.kspmNodeConfigurationCollector),
    containers: [container(input, mountsOf(mounted))],
    volumes: volumesOf(mounted),
  }
}

function container(input: RenderInput, volumeMounts: readonly VolumeMount[]): Container {
  const template = input.dynakube.spec.templates?.kspmNodeConfigurationCollector
  return {
    name: 'node-config-collector',
    image: imageOf(template?.imageRef, FALLBACK_IMAGE),
    imagePullPolicy: pullPolicyOf(template?.imageRef?.pullPolicy),
    env: containerEnv(input),
    resources: resourcesOf(input),
    securityContext: unprivileged(USER, { capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE'] } }),
    volumeMounts,
  }
}

function containerEnv({ dynakube }: RenderInput): readonly EnvVar[] {
  const endpoint = `https://${activeGateHost(dynakube)}/e/${tenantUuid(dynakube)}/api/v2/kubernetes/node-config`
  return lastOfEachName([
    fromField('KUBERNETES_NODE_NAME', 'spec.nodeName'),
    { name: 'KUBERNETES_NODE_ROOT', value: NODE_ROOT },
    { name: 'DT_ACTIVEGATE_ENDPOINT', value: endpoint },
    ...(hasActiveGateCertificate(dynakube) ? [{ name: 'DT_CA_CERTIFICATE_FILE', value: CERTIFICATE_FILE }] : []),
    ...containerEnvFrom(dynakube.spec.templates?.kspmNodeConfigurationCollector?.env),
  ])
}

/** Limits and requests of the user each replace the default as a whole. */
function resourcesOf({ dynakube }: RenderInput): ResourceRequirements {
  const given = resourcesFrom(dynakube.spec.templates?.kspmNodeConfigurationCollector?.resources)
  return { requests: given?.requests ?? DEFAULT_RESOURCES, limits: given?.limits ?? DEFAULT_RESOURCES }
}

function hostPaths({ dynakube }: RenderInput): readonly Mounted[] {
  return kspmHostPaths(dynakube).map((path, index) => ({
    volume: { name: `node-path-${index + 1}`, hostPath: { path, type: 'Directory' } },
    mount: { mountPath: posix.join(NODE_ROOT, path).replace(/(?<=.)\/$/, ''), readOnly: true },
  }))
}

function token({ dynakube }: RenderInput): Mounted {
  return {
    volume: { name: 'kspm-token', secret: { secretName: namesOf(dynakube).kspmTokenSecret } },
    mount: { mountPath: TOKEN_FILE, subPath: 'kspm-token' },
  }
}

function certificate({ dynakube }: RenderInput): readonly Mounted[] {
  if (!hasActiveGateCertificate(dynakube)) return []
  return [
    {
      volume: { name: 'certs', secret: { secretName: activeGateTlsSecretName(dynakube) } },
      mount: { mountPath: CERTIFICATE_FILE, subPath: 'server.crt' },
    },
  ]
}
