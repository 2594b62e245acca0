/** What receiving telemetry needs besides the collectors: a Service, where to send it, and how to treat it. */
import { ownValue } from '@reeve/http'
import { ConfigMaps, Services } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasTelemetryIngest, ingestProtocols } from '../../../../api/dynakube/feature-facts.ts'
import { FIXED_NAMES, namesOf, telemetryIngestServiceName } from '../../../../api/dynakube/names.ts'
import { TenantUnknownError, tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { yamlText } from '../../../rendering/yaml-text.ts'
import { configured, created, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf, runsNoPods } from '../../dynakube-component.ts'
import { activeGateHost } from '../../no-proxy.ts'
import { activeGateAddress } from '../active-gate/service.ts'
import { activeGateConnection } from '../connection/active-gate-connection.ts'
import { oneAgentConnection } from '../connection/one-agent-connection.ts'
import { tenant } from '../tenant/tenant.ts'
import { collectorConfig, UnknownProtocolError } from './config.ts'
import { CONFIG_FILE, collectorLabels, collectorPartLabels, ENDPOINT_KEY } from './names.ts'
import { PROTOCOLS } from './protocols.ts'

const GENERATION_FAILED = 'ConfigMapGenerationFailed'

/** Telemetry ingest. */
export const telemetryIngest: DynaKubeComponent = {
  name: 'telemetry ingest',
  needs: [tenant],
  after: [activeGateConnection, oneAgentConnection, activeGateAddress],
  isEnabled: hasTelemetryIngest,
  isReady: runsNoPods,
  mayOwn: (dynakube) => [
    { resource: Services, name: telemetryIngestServiceName(dynakube) },
    { resource: ConfigMaps, name: FIXED_NAMES.otlpApiEndpoint },
    { resource: ConfigMaps, name: namesOf(dynakube).otelCollectorConfig },
  ],
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const { dynakube } = input
    return [
      renderService(input),
      configMap(input, FIXED_NAMES.otlpApiEndpoint, { [ENDPOINT_KEY]: endpointOf(dynakube) }),
      configMap(input, namesOf(dynakube).otelCollectorConfig, collectorConfigData(dynakube)),
    ]
  },
  ...objectConditions([
    created('OTELCService', 'Service', telemetryIngestServiceName),
    configured('OtelpApiEndpointConfigMap', () => FIXED_NAMES.otlpApiEndpoint, {
      unrendered: (failure) => (failure instanceof TenantUnknownError ? GENERATION_FAILED : undefined),
    }),
    configured('OTELCConfigurationConfigMap', (dynakube) => namesOf(dynakube).otelCollectorConfig, {
      unrendered: (failure) => (failure instanceof UnknownProtocolError ? GENERATION_FAILED : undefined),
    }),
  ]),
}

/** The data of the ConfigMap with the configuration. */
export const collectorConfigData = (dynakube: DynaKube): Readonly<Record<string, string>> => ({
  [CONFIG_FILE]: yamlText(collectorConfig(dynakube), { quotes: false }),
})

function configMap(input: RenderInput, name: string, data: Readonly<Record<string, string>>): DesiredObject {
  const { namespace } = input.dynakube.metadata
  return desired(ConfigMaps, { metadata: { namespace, name, labels: collectorPartLabels(input).all }, data })
}

function renderService(input: RenderInput): DesiredObject {
  const { dynakube } = input
  const ports = ingestProtocols(dynakube).flatMap((name) => ownValue(PROTOCOLS, name)?.ports ?? [])
  return desired(
    Services,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: telemetryIngestServiceName(dynakube),
        labels: collectorPartLabels(input).all,
      },
      spec: {
        type: 'ClusterIP',
        selector: collectorLabels(input).match,
        ports: ports.map(({ name, port, transport, appProtocol }) => {
          return { name, port, targetPort: port, protocol: transport, ...(appProtocol && { appProtocol }) }
        }),
      },
    },
    { sole: ['spec.ports', 'spec.selector'] },
  )
}

/** The gateway of the cluster if there is one, the tenant otherwise. */
function endpointOf(dynakube: DynaKube): string {
  if (!hasActiveGate(dynakube)) return `${dynakube.spec.apiUrl}/v2/otlp`
  return `https://${activeGateHost(dynakube)}/e/${tenantUuid(dynakube)}/api/v2/otlp`
}
