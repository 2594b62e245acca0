/** The settings schemas that a tenant knows. */

/** A schema. */
export interface SettingsSchema {
  readonly schemaId: string
  readonly displayName: string
  /** The newest first. Objects may be written in any of them. */
  readonly versions: readonly string[]
  /** What applies when nothing has been written. */
  readonly defaultValue?: Readonly<Record<string, unknown>>
  /** Fields that a value must have. */
  readonly requiredFields: readonly string[]
}

/** Ids of the schemas that an operator uses. */
export const SCHEMA_IDS = {
  cluster: 'builtin:cloud.kubernetes',
  kubernetesApp: 'builtin:app-transition.kubernetes',
  logStorage: 'builtin:logmonitoring.log-storage-settings',
  enrichment: 'builtin:kubernetes.generic.metadata.enrichment',
  kspm: 'builtin:kubernetes.security-posture-management',
  connection: 'app:dynatrace.kubernetes.connector:connection',
} as const

/** What a current tenant knows. */
export const STANDARD_SCHEMAS: readonly SettingsSchema[] = [
  {
    schemaId: SCHEMA_IDS.cluster,
    displayName: 'Kubernetes cluster connection',
    versions: ['3.0.0', '1.0.27'],
    requiredFields: ['label', 'clusterId', 'clusterIdEnabled', 'enabled'],
  },
  {
    schemaId: SCHEMA_IDS.kubernetesApp,
    displayName: 'Kubernetes app',
    versions: ['1.0.1'],
    requiredFields: ['kubernetesAppOptions'],
  },
  {
    schemaId: SCHEMA_IDS.logStorage,
    displayName: 'Log ingest rules',
    versions: ['1.0.16'],
    requiredFields: ['config-item-title', 'enabled', 'send-to-storage', 'matchers'],
  },
  {
    schemaId: SCHEMA_IDS.enrichment,
    displayName: 'Kubernetes metadata enrichment',
    versions: ['2.1.1'],
    requiredFields: ['rules'],
    defaultValue: { rules: [] },
  },
  {
    schemaId: SCHEMA_IDS.kspm,
    displayName: 'Kubernetes security posture management',
    versions: ['1'],
    requiredFields: ['configurationDatasetPipelineEnabled'],
  },
  {
    schemaId: SCHEMA_IDS.connection,
    displayName: 'Kubernetes connections',
    versions: ['1.0.0'],
    requiredFields: ['name', 'uid', 'namespace', 'token'],
  },
]
