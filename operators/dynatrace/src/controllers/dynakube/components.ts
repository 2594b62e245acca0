/** All components of a DynaKube, in the order in which they are applied. */
import { activeGate } from './components/active-gate/active-gate.ts'
import { activeGateCertificate } from './components/active-gate/certificate.ts'
import { activeGateService } from './components/active-gate/service.ts'
import { deploymentMetadata } from './components/connection/deployment-metadata.ts'
import { proxySecret } from './components/connection/proxy-secret.ts'
import { pullSecret } from './components/connection/pull-secret.ts'
import { activeGateTenantSecret, oneAgentTenantSecret } from './components/connection/tenant-secrets.ts'
import { extensionController } from './components/extensions/controller.ts'
import { databaseExecutors } from './components/extensions/database-executors.ts'
import { extensions } from './components/extensions/shared.ts'
import { exporters } from './components/injection/exporter-secrets.ts'
import { injection } from './components/injection/source-secrets.ts'
import { istioForActiveGate, istioForApi, istioForCodeModules } from './components/istio/istio.ts'
import { kspm } from './components/kspm/kspm.ts'
import { logMonitoring } from './components/log-monitoring/log-monitoring.ts'
import { oneAgent } from './components/one-agent/one-agent.ts'
import { otelCollector } from './components/otel-collector/otel-collector.ts'
import { telemetryIngest } from './components/otel-collector/telemetry-ingest.ts'

/** What pods mount, and the way out of a mesh that they take, comes before the pods. */
export const COMPONENTS = [
  istioForApi,
  istioForCodeModules,
  istioForActiveGate,
  deploymentMetadata,
  proxySecret,
  activeGateTenantSecret,
  oneAgentTenantSecret,
  pullSecret,
  activeGateService,
  activeGateCertificate,
  activeGate,
  extensions,
  extensionController,
  databaseExecutors,
  telemetryIngest,
  otelCollector,
  logMonitoring,
  injection,
  exporters,
  oneAgent,
  kspm,
] as const
