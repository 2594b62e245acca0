/** All components of a DynaKube. To add one, add its folder and a line here. */
import { activeGate } from './components/active-gate/active-gate.ts'
import { activeGateCertificate } from './components/active-gate/certificate.ts'
import { activeGateAddress, activeGateService } from './components/active-gate/service.ts'
import { certificateKeys } from './components/certificate-keys/certificate-keys.ts'
import { clusterAnnouncement, clusterEntity } from './components/cluster/cluster.ts'
import { kubernetesApp } from './components/cluster/kubernetes-app.ts'
import { activeGateConnection } from './components/connection/active-gate-connection.ts'
import { deploymentMetadata } from './components/connection/deployment-metadata.ts'
import { istioForActiveGate, istioForCodeModules } from './components/connection/istio.ts'
import { oneAgentConnection } from './components/connection/one-agent-connection.ts'
import { proxySecret } from './components/connection/proxy-secret.ts'
import { pullSecret } from './components/connection/pull-secret.ts'
import { extensionController } from './components/extensions/controller.ts'
import { databaseExecutors } from './components/extensions/database-executors.ts'
import { extensions } from './components/extensions/extensions.ts'
import { exporters } from './components/injection/exporters.ts'
import { injection } from './components/injection/injection.ts'
import { exporterCopies, injectionCopies, injectionSummary, namespaces } from './components/injection/namespaces.ts'
import { istioForApi } from './components/istio/istio.ts'
import { kspm } from './components/kspm/kspm.ts'
import { logMonitoring } from './components/log-monitoring/log-monitoring.ts'
import { instances } from './components/one-agent/instances.ts'
import { oneAgent } from './components/one-agent/one-agent.ts'
import { otelCollector } from './components/otel-collector/otel-collector.ts'
import { telemetryIngest } from './components/otel-collector/telemetry-ingest.ts'
import { enrichmentRules } from './components/settings/enrichment-rules.ts'
import { kspmSetting } from './components/settings/kspm-setting.ts'
import { logRule } from './components/settings/log-rule.ts'
import { tenant } from './components/tenant/tenant.ts'
import { activeGateVersion, codeModulesVersion, oneAgentVersion } from './components/versions/versions.ts'
import type { AnyDynaKubeComponent } from './dynakube-component.ts'

/**
 * The list, in the order in which plans show components. The engine runs them in the order of their needs. Addresses of
 * gateways come before the agents that contain them: agents would otherwise start twice.
 */
export const COMPONENTS: readonly AnyDynaKubeComponent[] = [
  certificateKeys,
  istioForApi,
  tenant,
  istioForCodeModules,
  istioForActiveGate,
  deploymentMetadata,
  proxySecret,
  activeGateConnection,
  oneAgentConnection,
  pullSecret,
  activeGateService,
  activeGateAddress,
  activeGateVersion,
  activeGateCertificate,
  activeGate,
  clusterAnnouncement,
  clusterEntity,
  kubernetesApp,
  extensions,
  extensionController,
  databaseExecutors,
  telemetryIngest,
  otelCollector,
  kspmSetting,
  logRule,
  logMonitoring,
  codeModulesVersion,
  enrichmentRules,
  injection,
  exporters,
  oneAgentVersion,
  oneAgent,
  kspm,
  namespaces,
  injectionCopies,
  exporterCopies,
  injectionSummary,
  instances,
]
