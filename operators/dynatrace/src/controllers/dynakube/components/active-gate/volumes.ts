/** The files of gateways. Their root file system is read-only, so each folder they write to is a volume. */
import {
  activeGateTlsSecretName,
  activeGateUsesProxy,
  customPropertiesSecretName,
  hasActiveGateCertificate,
  hasKubernetesMonitoring,
} from '../../../../api/dynakube/active-gate-facts.ts'
import { hasExtensions, hasKspm } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { Mounted } from '../../../rendering/mounted-volume.ts'
import { claimFrom } from '../../../rendering/user-settings.ts'
import { type Claimed, claimed, DEFAULT_CLAIM } from '../../../rendering/volume-claims.ts'
import type { RenderInput } from '../../dynakube-component.ts'
import { CUSTOM_PROPERTIES_KEY, type CustomProperties, customPropertiesText } from './custom-properties.ts'

/** The folder of the gateway, below which most of its volumes are. */
export const GATEWAY_FOLDER = '/var/lib/dynatrace/gateway'
/** Data that a gateway must keep across restarts. */
const TEMPORARY = 'ag-tmp-gateway'
/** Certificates of the cluster in the format of Java. */
export const TRUST_STORE = 'truststore-volume'
/** Where the trust store is made. */
export const CERTIFICATE_FOLDER = 'cert-tmp'

const READABLE = 0o644

/** The claim for the gateway's temporary data; `undefined` when that stays in the pod. */
export function temporaryClaim({ spec }: DynaKube): Claimed | undefined {
  const given = spec.activeGate?.volumeClaimTemplate
  if (given) return claimed(TEMPORARY, claimFrom(given))
  const isKept = spec.telemetryIngest !== undefined && spec.activeGate?.useEphemeralVolume !== true
  return isKept ? claimed(TEMPORARY, DEFAULT_CLAIM) : undefined
}

/** Volumes of the main container in the order in which it mounts them. A claimed one has no entry. */
export function gatewayVolumes({ dynakube }: RenderInput, properties: CustomProperties): readonly Mounted[] {
  return [
    folder(TEMPORARY, '/var/tmp/dynatrace/gateway'),
    authToken(dynakube),
    ...certificates(dynakube),
    ...customProperties(dynakube, properties),
    ...proxy(dynakube),
    tenantToken(dynakube),
    folder('ag-lib-gateway-temp', `${GATEWAY_FOLDER}/temp`),
    folder('ag-lib-gateway-data', `${GATEWAY_FOLDER}/data`),
    folder('ag-log-gateway', '/var/log/dynatrace/gateway'),
    folder('ag-lib-gateway-config', `${GATEWAY_FOLDER}/config`),
    ...trustStore(dynakube),
    ...extensionToken(dynakube),
    ...kspmToken(dynakube),
  ]
}

/** Whether a volume is the one that may be claimed. */
export const isTemporary = ({ volume }: Mounted): boolean => volume.name === TEMPORARY

function folder(name: string, mountPath: string): Mounted {
  return { volume: { name, emptyDir: {} }, mount: { mountPath } }
}

function tokenFile(name: string, secretName: string, key: string, mountPath: string): Mounted {
  return { volume: { name, secret: { secretName } }, mount: { mountPath, subPath: key, readOnly: true } }
}

const authToken = (dynakube: DynaKube): Mounted =>
  tokenFile(
    'ag-authtoken-secret',
    namesOf(dynakube).activeGateAuthTokenSecret,
    'auth-token',
    '/var/lib/dynatrace/secrets/tokens/auth-token',
  )

const tenantToken = (dynakube: DynaKube): Mounted =>
  tokenFile(
    'connection-info-secret',
    namesOf(dynakube).activeGateTenantSecret,
    'tenant-token',
    '/var/lib/dynatrace/secrets/tokens/tenant-token',
  )

function certificates(dynakube: DynaKube): readonly Mounted[] {
  const { trustedCAs } = dynakube.spec
  const isServer = hasActiveGateCertificate(dynakube)
  const server: Mounted = {
    volume: { name: 'server-certs', secret: { secretName: activeGateTlsSecretName(dynakube) } },
    mount: { mountPath: '/var/lib/dynatrace/secrets/tls', readOnly: true },
  }
  return [
    ...(isServer || trustedCAs ? [folder('ag-lib-gateway-ssl', `${GATEWAY_FOLDER}/ssl`)] : []),
    ...(isServer ? [server] : []),
    ...(trustedCAs ? [trusted(trustedCAs)] : []),
  ]
}

function trusted(configMap: string): Mounted {
  return {
    volume: { name: 'trustedcas', configMap: { name: configMap, items: [{ key: 'certs', path: 'rootca.pem' }] } },
    mount: { mountPath: '/var/lib/dynatrace/secrets/rootca', readOnly: true },
  }
}

function customProperties(dynakube: DynaKube, properties: CustomProperties): readonly Mounted[] {
  // Pods do not start without a Secret that they mount.
  if (customPropertiesText(dynakube, properties) === '') return []
  const file = 'custom.properties'
  return [
    {
      volume: {
        name: 'custom-properties',
        secret: {
          secretName: customPropertiesSecretName(dynakube),
          items: [{ key: CUSTOM_PROPERTIES_KEY, path: file }],
        },
      },
      mount: { mountPath: `${GATEWAY_FOLDER}/config_template/${file}`, subPath: file, readOnly: true },
    },
  ]
}

function proxy(dynakube: DynaKube): readonly Mounted[] {
  if (!activeGateUsesProxy(dynakube)) return []
  return [
    {
      volume: { name: 'internal-proxy-secret-volume', secret: { secretName: namesOf(dynakube).proxySecret } },
      mount: { mountPath: '/var/lib/dynatrace/secrets/internal-proxy' },
    },
  ]
}

function trustStore(dynakube: DynaKube): readonly Mounted[] {
  if (!hasKubernetesMonitoring(dynakube)) return []
  return [
    {
      volume: { name: TRUST_STORE, emptyDir: {} },
      mount: {
        mountPath: '/opt/dynatrace/gateway/jre/lib/security/cacerts',
        subPath: 'k8s-local.jks',
        readOnly: true,
      },
    },
  ]
}

function extensionToken(dynakube: DynaKube): readonly Mounted[] {
  if (!hasExtensions(dynakube)) return []
  const key = 'eec.token'
  return [
    {
      volume: {
        name: 'eec-token',
        secret: {
          secretName: namesOf(dynakube).extensionsTokenSecret,
          defaultMode: READABLE,
          items: [{ key, path: key, mode: READABLE }],
        },
      },
      mount: { mountPath: '/var/lib/dynatrace/secrets/eec/token', readOnly: true },
    },
  ]
}

/** Whether gateways take configurations of nodes. */
export const servesKspm = (dynakube: DynaKube): boolean => hasKspm(dynakube) && hasKubernetesMonitoring(dynakube)

function kspmToken(dynakube: DynaKube): readonly Mounted[] {
  if (!servesKspm(dynakube)) return []
  const file = '/var/lib/dynatrace/secrets/tokens/kspm/node-configuration-collector'
  return [tokenFile('kspm-token', namesOf(dynakube).kspmTokenSecret, 'kspm-token', file)]
}
