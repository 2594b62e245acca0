/** Conditions of a DynaKube, and why they are what they are. Dashboards and scripts know these words. */

/** Types. */
export const CONDITIONS = {
  tokens: 'Tokens',
  settingsRead: 'ApiTokenSettingsRead',
  settingsWrite: 'ApiTokenSettingsWrite',
  oneAgentConnection: 'OneAgentConnectionInfo',
  activeGateConnection: 'ActiveGateConnectionInfo',
  oneAgentVersion: 'OneAgentVersion',
  codeModulesVersion: 'CodeModulesVersion',
  activeGateVersion: 'ActiveGateVersion',
  pullSecret: 'PullSecret',
  activeGateAuthToken: 'ActiveGateAuthTokenSecret',
  activeGateTls: 'TLSSecret',
  extensionsTls: 'ExtensionsTLSSecret',
  monitoredEntity: 'MonitoredEntity',
  enrichmentRules: 'MetadataEnrichmentRules',
  logMonitoringSettings: 'LogMonitoringSettings',
  istioForCodeModules: 'IstioForCodeModule',
  istioForActiveGate: 'IstioForActiveGate',
  ignoredNamespaces: 'IgnoredNamespaces',
} as const

/** Types that earlier releases wrote; they go when they are met. */
export const FORMER_TOKEN_CONDITIONS = ['APIToken', 'PaaSToken', 'DataIngestToken'] as const

/** The type by which an earlier release spelt that of the extension controller; it goes when it is met. */
export const FORMER_CONTROLLER_CONDITION = 'ExtensionsControllerStatefulSet'

/** Reasons that several conditions share. */
export const REASONS = {
  secretCreated: 'SecretCreated',
  secretOutdated: 'SecretOutdated',
  statusUpdated: 'StatusUpdated',
  statusOutdated: 'StatusOutdated',
  scopePresent: 'ScopePresent',
  scopeMissing: 'ScopeMissing',
  kubeApiError: 'KubeApiError',
  dynatraceApiError: 'DynatraceApiError',
  verified: 'Verified',
  verificationSkipped: 'VerificationSkipped',
  verificationFailed: 'VerificationFailed',
  downgrade: 'Downgrade',
  limitExceeded: 'LimitExceeded',
} as const

/** What a condition says about a failed call to the tenant. */
export const dynatraceApiMessage = (error: Error): string =>
  `The Dynatrace API answered with a problem: ${error.message}`

/** What a condition says about a failed call to the cluster. */
export const kubeApiMessage = (error: Error): string => `The Kubernetes API answered with a problem: ${error.message}`
