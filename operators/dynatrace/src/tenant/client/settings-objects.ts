/** Settings in the format of a tenant. Pure. */

/** One object of the settings API. */
export interface SettingsObject {
  readonly schemaId: string
  readonly schemaVersion: string
  /** Entity the setting belongs to; absent: the tenant creates one. */
  readonly scope?: string
  readonly value: Readonly<Record<string, unknown>>
}

export const KUBERNETES_SCHEMA = 'builtin:cloud.kubernetes'
export const APP_TRANSITION_SCHEMA = 'builtin:app-transition.kubernetes'
export const LOG_STORAGE_SCHEMA = 'builtin:logmonitoring.log-storage-settings'
export const KSPM_SCHEMA = 'builtin:kubernetes.security-posture-management'

/** Which cluster a setting is about. */
export interface ClusterIdentity {
  readonly label: string
  /** UID of the `kube-system` namespace. */
  readonly clusterId: string
  /** Known entity of the cluster. @default none yet */
  readonly entityId?: string
}

/** One matcher of a log ingest rule. */
export interface LogRule {
  readonly attribute?: string
  readonly values?: readonly string[]
}

/** The setting that makes a tenant monitor a cluster. */
export function clusterSetting({ label, clusterId, entityId }: ClusterIdentity): SettingsObject {
  return {
    schemaId: KUBERNETES_SCHEMA,
    schemaVersion: '3.0.0',
    ...(entityId && { scope: entityId }),
    value: { label, clusterId, clusterIdEnabled: true, enabled: true },
  }
}

/** The same for old tenants without hierarchical settings. */
export function legacyClusterSetting(cluster: ClusterIdentity): SettingsObject {
  const current = clusterSetting(cluster)
  return {
    ...current,
    schemaVersion: '1.0.27',
    value: {
      ...current.value,
      cloudApplicationPipelineEnabled: true,
      openMetricsPipelineEnabled: false,
      eventProcessingActive: false,
      eventProcessingV2Active: false,
      filterEvents: false,
    },
  }
}

/** Switches the Kubernetes app on. */
export function kubernetesAppSetting(entityId: string): SettingsObject {
  return {
    schemaId: APP_TRANSITION_SCHEMA,
    schemaVersion: '1.0.1',
    scope: entityId,
    value: { kubernetesAppOptions: { enableKubernetesApp: true } },
  }
}

/** Makes the tenant process the node configurations of a cluster. */
export function kspmSetting(entityId: string): SettingsObject {
  return {
    schemaId: KSPM_SCHEMA,
    schemaVersion: '1',
    scope: entityId,
    value: { configurationDatasetPipelineEnabled: true },
  }
}

/** The rule by which the tenant stores the logs of a cluster. */
export function logStorageSetting(entityId: string, clusterName: string, rules: readonly LogRule[]): SettingsObject {
  const matchers = rules.map(({ attribute, values }) => ({
    ...(attribute && { attribute }),
    operator: 'MATCHES',
    ...(values && values.length > 0 && { values }),
  }))
  return {
    schemaId: LOG_STORAGE_SCHEMA,
    schemaVersion: '1.0.16',
    scope: entityId,
    value: { 'config-item-title': clusterName, matchers, enabled: true, 'send-to-storage': true },
  }
}
