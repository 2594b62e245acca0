/** The files of collectors. */
import {
  activeGateTlsSecretName,
  collectorNeedsTrustedCertificates,
  hasActiveGateCertificate,
} from '../../../../api/dynakube/active-gate-facts.ts'
import { hasPrometheus, hasTelemetryIngest } from '../../../../api/dynakube/feature-facts.ts'
import { extensionControllerTlsSecretName, namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { Mounted } from '../../../rendering/mounted-volume.ts'
import { EXTENSION_TOKEN_KEYS } from '../extensions/names.ts'
import { FOLDERS } from './names.ts'

const READABLE = 0o644

/** In the order in which they are mounted. */
export function collectorVolumes(dynakube: DynaKube): readonly Mounted[] {
  const isPrometheus = hasPrometheus(dynakube)
  const isIngest = hasTelemetryIngest(dynakube)
  const { trustedCAs, telemetryIngest } = dynakube.spec
  const trusts = isPrometheus || (isIngest && collectorNeedsTrustedCertificates(dynakube))
  return [
    ...(isPrometheus ? [tokens(dynakube), extensionCertificate(dynakube)] : []),
    ...(trustedCAs && trusts ? [trustedCertificates(trustedCAs)] : []),
    ...(isIngest && hasActiveGateCertificate(dynakube) ? [gatewayCertificate(dynakube)] : []),
    ...(telemetryIngest?.tlsRefName ? [telemetryCertificate(telemetryIngest.tlsRefName)] : []),
    ...(isIngest ? [configuration(dynakube)] : []),
  ]
}

const readOnlyAt = (mountPath: string) => ({ mountPath, readOnly: true })
const item = (key: string, path = key) => ({ key, path })

const tokens = (dynakube: DynaKube): Mounted => ({
  volume: {
    name: 'tokens',
    secret: {
      secretName: namesOf(dynakube).extensionsTokenSecret,
      defaultMode: READABLE,
      items: [item(EXTENSION_TOKEN_KEYS.datasource)],
    },
  },
  mount: readOnlyAt(FOLDERS.tokens),
})

const extensionCertificate = (dynakube: DynaKube): Mounted => ({
  volume: {
    name: 'extension-controller-tls',
    secret: { secretName: extensionControllerTlsSecretName(dynakube), items: [item('tls.crt')] },
  },
  mount: readOnlyAt(FOLDERS.extensionCertificate),
})

const trustedCertificates = (configMap: string): Mounted => ({
  volume: { name: 'cacerts', configMap: { name: configMap, items: [item('certs', 'rootca.pem')] } },
  mount: readOnlyAt(FOLDERS.trustedCertificates),
})

const gatewayCertificate = (dynakube: DynaKube): Mounted => ({
  volume: {
    name: 'agcert',
    secret: { secretName: activeGateTlsSecretName(dynakube), items: [item('server.crt', 'cert.pem')] },
  },
  mount: readOnlyAt(FOLDERS.gatewayCertificate),
})

const telemetryCertificate = (secretName: string): Mounted => ({
  volume: { name: 'telemetry-ingest-custom-tls', secret: { secretName, items: [item('tls.crt'), item('tls.key')] } },
  mount: readOnlyAt(FOLDERS.telemetryCertificate),
})

const configuration = (dynakube: DynaKube): Mounted => ({
  volume: { name: 'telemetry-collector-config', configMap: { name: namesOf(dynakube).otelCollectorConfig } },
  mount: readOnlyAt(FOLDERS.config),
})
