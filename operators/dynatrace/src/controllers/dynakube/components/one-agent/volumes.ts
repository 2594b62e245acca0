/** What the agent sees of the node, and the files it reads. */
import type { Volume, VolumeMount } from '@reeve/kube'
import { activeGateTlsSecretName, hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { modeSpec, supportsReadOnlyHost } from '../../../../api/dynakube/one-agent-facts.ts'
import { oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { type Mounted, mountsOf, volumesOf } from '../../../rendering/mounted-volume.ts'
import type { RenderInput } from '../../dynakube-component.ts'

/** The file with facts about the node, written by the init container. */
export const NODE_METADATA = {
  volume: 'dynatrace-operator',
  folder: '/var/lib/dynatrace/enrichment',
  file: 'dt_node_metadata.properties',
} as const

const STORAGE_MOUNT = '/mnt/volume_storage_mount'
const DEFAULT_STORAGE = '/var/opt/dynatrace'

/** Volumes and mounts of the agent, each in the order of earlier releases. */
export function agentVolumes(input: RenderInput): {
  readonly volumes: readonly Volume[]
  readonly mounts: readonly VolumeMount[]
} {
  const token = tenantToken(input)
  const metadata = nodeMetadata()
  const root = hostRoot(input)
  const others = [...storage(input), ...trustedCertificates(input), ...gatewayCertificate(input), ...proxy(input)]
  return {
    volumes: volumesOf([root, metadata, token, ...others]),
    mounts: mountsOf([token, metadata, root, ...others]),
  }
}

function tenantToken({ dynakube }: RenderInput): Mounted {
  return {
    volume: { name: 'connection-info-secret', secret: { secretName: namesOf(dynakube).oneAgentTenantSecret } },
    mount: { mountPath: '/var/lib/dynatrace/secrets/tokens/tenant-token', subPath: 'tenant-token', readOnly: true },
  }
}

function nodeMetadata(): Mounted {
  const { volume, folder, file } = NODE_METADATA
  return {
    volume: { name: volume, emptyDir: {} },
    mount: { mountPath: `${folder}/${file}`, subPath: file, readOnly: true },
  }
}

function hostRoot({ dynakube }: RenderInput): Mounted {
  return {
    volume: { name: 'host-root', hostPath: { path: '/' } },
    mount: { mountPath: '/mnt/root', ...(supportsReadOnlyHost(dynakube) && { readOnly: true }) },
  }
}

/** Where an agent that must not write to the host keeps its data. */
function storage({ dynakube, operator }: RenderInput): readonly Mounted[] {
  if (!supportsReadOnlyHost(dynakube)) return []
  if (operator.hasCsiDriver) {
    const volumeAttributes = { mode: 'host', dynakube: dynakube.metadata.name ?? '' }
    return [
      {
        volume: { name: 'osagent-storage', csi: { driver: 'csi.oneagent.dynatrace.com', volumeAttributes } },
        mount: { mountPath: STORAGE_MOUNT },
      },
    ]
  }
  const mode = modeSpec(dynakube, 'hostMonitoring') ?? modeSpec(dynakube, 'cloudNativeFullStack')
  const path = mode?.storageHostPath || DEFAULT_STORAGE
  return [
    {
      volume: { name: 'volume-storage', hostPath: { path, type: 'DirectoryOrCreate' } },
      mount: { mountPath: STORAGE_MOUNT, subPath: tenantUuid(dynakube) },
    },
  ]
}

function trustedCertificates({ dynakube }: RenderInput): readonly Mounted[] {
  const { trustedCAs } = dynakube.spec
  if (!trustedCAs) return []
  return [
    {
      volume: {
        name: 'dynatrace-cluster-ca',
        configMap: { name: trustedCAs, items: [{ key: 'certs', path: 'certs.pem' }] },
      },
      mount: { mountPath: '/mnt/dynatrace/certs' },
    },
  ]
}

function gatewayCertificate({ dynakube }: RenderInput): readonly Mounted[] {
  if (!hasActiveGateCertificate(dynakube)) return []
  return [
    {
      volume: {
        name: 'active-gate-ca',
        secret: {
          secretName: activeGateTlsSecretName(dynakube),
          items: [{ key: 'server.crt', path: 'custom.pem' }],
        },
      },
      mount: { mountPath: '/mnt/dynatrace/certs/activegate/' },
    },
  ]
}

function proxy({ dynakube }: RenderInput): readonly Mounted[] {
  if (!oneAgentUsesProxy(dynakube)) return []
  return [
    {
      volume: { name: 'internal-proxy-secret-volume', secret: { secretName: namesOf(dynakube).proxySecret } },
      mount: { mountPath: '/var/lib/dynatrace/secrets/internal-proxy' },
    },
  ]
}
