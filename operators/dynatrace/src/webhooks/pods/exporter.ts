/** Environment variables that point the OTLP exporters of a container to the tenant. Pure. */
import type { Container, EnvVar, Volume } from '@reeve/kube'
import { hasActiveGate, hasActiveGateCertificate } from '../../api/dynakube/active-gate-facts.ts'
import { FIXED_NAMES } from '../../api/dynakube/names.ts'
import { TenantUnknownError, tenantUuid } from '../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../api/feature-flags.ts'
import type { DynaKube } from '../../api/latest.ts'
import { activeGateHost } from '../../controllers/dynakube/no-proxy.ts'
import { envOf, mountsAt, withEnv, withMounts } from './pod-edits.ts'
import { no, type Verdict } from './verdict.ts'

/** The volume with the certificate that exporters trust. */
export const CERTS_VOLUME = 'otlp-dynatrace-certs'
const CERTS_PATH = '/etc/dynatrace/ssl'
const CERTIFICATE = `${CERTS_PATH}/activegate-tls.crt`
const TOKEN = 'DT_API_TOKEN'
const TEMPORALITY = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'
const SIGNALS = ['traces', 'metrics', 'logs'] as const

/** With any of these a container is configured by its author. */
const CONFIGURED_BY = [
  ...['', 'TRACES_', 'METRICS_', 'LOGS_'].flatMap((signal) =>
    ['ENDPOINT', 'HEADERS', 'CERTIFICATE', 'PROTOCOL'].map((name) => `OTEL_EXPORTER_OTLP_${signal}${name}`),
  ),
  TEMPORALITY,
]

/** Whether exporters need a certificate to trust. */
export const exporterNeedsCertificate = (dynakube: DynaKube): boolean =>
  hasActiveGateCertificate(dynakube) || Boolean(dynakube.spec.trustedCAs)

/** Where exporters send to; `undefined` while the tenant is not known, which the ActiveGate needs in its path. */
export function exporterEndpoint(dynakube: DynaKube): string | undefined {
  if (!hasActiveGate(dynakube)) return `${dynakube.spec.apiUrl}/v2/otlp`
  try {
    return `https://${activeGateHost(dynakube)}/e/${tenantUuid(dynakube)}/api/v2/otlp`
  } catch (error) {
    if (error instanceof TenantUnknownError) return undefined
    throw error
  }
}

/** Why the exporters of a container stay as they are; `undefined` when they are configured. */
export function exporterObstacle(container: Container, dynakube: DynaKube): Verdict | undefined {
  const field = `Pod spec.containers[name=${container.name}]`
  const mount = mountsAt(container, CERTS_PATH)
  if (exporterNeedsCertificate(dynakube) && mount !== undefined && !mountsCertificate(container)) {
    return no(`the container mounts ${mount.name} at ${CERTS_PATH}`, `${field}.volumeMounts[mountPath=${CERTS_PATH}]`)
  }
  if (dynakube.spec.otlpExporterConfiguration?.overrideEnvVars) return undefined
  const variable = CONFIGURED_BY.find((name) => envOf(container, name) !== undefined)
  if (variable === undefined) return undefined
  return no(`the container sets ${variable}, and overrideEnvVars is off`, `${field}.env[name=${variable}]`)
}

/** A container whose exporters are configured. */
export function withExporter(container: Container, dynakube: DynaKube, endpoint: string): Container {
  const { signals = {} } = dynakube.spec.otlpExporterConfiguration ?? {}
  const hasCertificate = exporterNeedsCertificate(dynakube)
  const token: EnvVar = {
    name: TOKEN,
    valueFrom: { secretKeyRef: { name: FIXED_NAMES.otlpExporterConfig, key: 'dataIngestToken' } },
  }
  const variables = SIGNALS.filter((signal) => signals[signal] !== undefined).flatMap((signal) => {
    const prefix = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_`
    return [
      { name: `${prefix}ENDPOINT`, value: `${endpoint}/v1/${signal}` },
      { name: `${prefix}PROTOCOL`, value: 'http/protobuf' },
      { name: `${prefix}HEADERS`, value: `authorization=Api-Token $(${TOKEN})` },
      ...(signal === 'metrics' ? [{ name: TEMPORALITY, value: 'delta' }] : []),
      ...(hasCertificate ? [{ name: `${prefix}CERTIFICATE`, value: CERTIFICATE }] : []),
    ]
  })
  // The token first: the others refer to it, and references resolve backwards only. It replaces one of the user, which
  // the tenant might not accept.
  const configured = withEnv(container, [token, ...variables])
  const direct = needsNoProxy(dynakube) ? withNoProxy(configured, activeGateHost(dynakube)) : configured
  if (!hasCertificate || mountsCertificate(container)) return direct
  return withMounts(direct, [{ name: CERTS_VOLUME, mountPath: CERTS_PATH, readOnly: true }])
}

/** Whether a container mounts the volume of the certificate, wherever. */
const mountsCertificate = ({ volumeMounts = [] }: Container): boolean =>
  volumeMounts.some(({ name }) => name === CERTS_VOLUME)

/** The volume of the certificate; none where no container mounts it. */
export function exporterVolumes(containers: readonly Container[]): readonly Volume[] {
  const secret = { secretName: FIXED_NAMES.otlpExporterCerts, defaultMode: 420 }
  return containers.some(mountsCertificate) ? [{ name: CERTS_VOLUME, secret }] : []
}

const needsNoProxy = (dynakube: DynaKube): boolean =>
  hasActiveGate(dynakube) && featureFlags(dynakube).otlpExporterSetNoProxy

/** Extends the first variable of this name, in either spelling. A value from elsewhere cannot be extended. */
function withNoProxy(container: Container, host: string): Container {
  const isNoProxy = ({ name }: EnvVar) => name.toUpperCase() === 'NO_PROXY'
  const existing = container.env?.filter(isNoProxy) ?? []
  if (existing.length === 0) return withEnv(container, [{ name: 'NO_PROXY', value: host }])
  const name = existing.find(({ valueFrom }) => valueFrom === undefined)?.name
  const { value = '', valueFrom } = (name !== undefined && envOf(container, name)) || {}
  if (name === undefined || valueFrom !== undefined || value.includes(host)) return container
  return withEnv(container, [{ name, value: value === '' ? host : `${value},${host}` }])
}
