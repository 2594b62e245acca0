/** Every default and limit of the simulated tenant. */

/** Limits of the server. */
export const SERVER_LIMITS = {
  /** Larger bodies are rejected with 413. No call of an operator comes near it. */
  maxBodyBytes: 1024 * 1024,
  maxUrlLength: 8 * 1024,
  maxConnections: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 15_000,
  /** A connection on which nothing moves, such as a download that is not read. */
  idleTimeoutMs: 120_000,
  /** How long requests in progress may take once the server stops. */
  drainTimeoutMs: 5_000,
} as const

/** How many objects of each kind a tenant stores; the oldest is dropped where that is safe; otherwise new ones are rejected. */
export const STATE_LIMITS = {
  calls: 1_000,
  callBodyBytes: 4 * 1024,
  events: 1_000,
  activeGateTokens: 1_000,
  accessTokens: 1_000,
  settingsObjects: 5_000,
  edgeConnects: 1_000,
  faultRules: 100,
  images: 200,
} as const

/** What a tenant has by default. */
export const TENANT_DEFAULTS = {
  id: 'abc12345',
  agentVersion: '1.321.57.20250812-101530',
  olderAgentVersions: ['1.319.68.20250714-093015', '1.317.71.20250613-141502'],
  gatewayVersion: '1.321.42.20250811-083045',
  edgeConnectVersion: '1.5.2',
  /** Small enough for tests, large enough for several chunks. */
  agentSizeBytes: 1024 * 1024,
  accessTokenLifetimeMs: 300_000,
} as const

/** The largest agent: offsets and sizes inside a ZIP without extensions end at 4 GiB. */
export const MAX_AGENT_BYTES = 2 * 1024 * 1024 * 1024

/** Scopes of API tokens that the operator needs, by the token that usually has them. */
export const TOKEN_SCOPES = {
  apiToken: ['InstallerDownload', 'DataExport', 'settings.read', 'settings.write', 'activeGateTokenManagement.create'],
  dataIngestToken: ['metrics.ingest', 'logs.ingest', 'openTelemetryTrace.ingest'],
} as const

/** Scopes of OAuth clients that an EdgeConnect needs. */
export const OAUTH_SCOPES = [
  'app-engine:edge-connects:read',
  'app-engine:edge-connects:write',
  'app-engine:edge-connects:delete',
  'oauth2:clients:manage',
  'settings:objects:read',
  'settings:objects:write',
] as const
