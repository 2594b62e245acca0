/** Reasons that conditions of several components share. Dashboards and scripts know these words. */

/** Reasons of conditions. */
export const REASONS = {
  secretCreated: 'SecretCreated',
  secretOutdated: 'SecretOutdated',
  secretGenerationFailed: 'SecretGenerationFailed',
  statusUpdated: 'StatusUpdated',
  statusOutdated: 'StatusOutdated',
  scopePresent: 'ScopePresent',
  scopeMissing: 'ScopeMissing',
  kubeApiError: 'KubeApiError',
  dynatraceApiError: 'DynatraceApiError',
} as const

/** The message of a condition about a failed request to the tenant. */
export const dynatraceApiMessage = (error: Error): string => `The Dynatrace API returned an error: ${error.message}`

/** The message of a condition about a failed request to the cluster. */
export const kubeApiMessage = (error: Error): string => `The Kubernetes API returned an error: ${error.message}`
