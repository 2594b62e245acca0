/** All components of a DynaKube. */

import type { Component } from './component.ts'
import { activeGate } from './components/active-gate/active-gate.ts'
import { activeGateCertificate } from './components/active-gate/certificate.ts'
import { activeGateAddress, activeGateService } from './components/active-gate/service.ts'
import { clusterAnnouncement, clusterEntity } from './components/cluster/cluster.ts'
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
import { enrichmentRules, logRule } from './components/settings/settings.ts'
import { activeGateVersion, codeModulesVersion, oneAgentVersion } from './components/versions/versions.ts'

/**
 * The list. The order is that of plans; what has to come first is said by the components themselves, and the addresses of
 * gateways come before those who name them, as agents would otherwise start twice on the day they are installed.
 */
export const COMPONENTS: readonly Component[] = [
  istioForApi,
  istioForCodeModules,
  istioForActiveGate,
  deploymentMetadata,
  proxySecret,
  activeGateTenantSecret,
  oneAgentTenantSecret,
  pullSecret,
  activeGateService,
  activeGateAddress,
  activeGateVersion,
  activeGateCertificate,
  activeGate,
  clusterAnnouncement,
  clusterEntity,
  extensions,
  extensionController,
  databaseExecutors,
  telemetryIngest,
  otelCollector,
  logRule,
  logMonitoring,
  codeModulesVersion,
  enrichmentRules,
  injection,
  exporters,
  oneAgentVersion,
  oneAgent,
  kspm,
]
