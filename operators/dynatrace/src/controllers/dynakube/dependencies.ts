/** What reconciling DynaKubes needs besides the cluster. */
import type { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import type { TenantClient, TenantClientOptions } from '../../tenant/client/tenant-client.ts'
import type { LimitedCertificates } from '../generated/limited-certificates.ts'
import type { ScopeSettings } from './components/tenant/token-scopes.ts'
import type { OperatorFacts } from './render-input.ts'
import type { ClusterPass } from './resolve/pass.ts'

/** What the operator is told about its surroundings. */
export interface DynaKubeOptions extends ScopeSettings {
  readonly operator: OperatorFacts
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** How often agents are listed in the status. @default 5 min */
  readonly instancesIntervalMs?: number
  /** @default a client with its own connections */
  readonly connect?: (options: TenantClientOptions) => TenantClient
  /** @default the machine's */
  readonly randomBytes?: ClusterPass['randomBytes']
  /** Makes certificates; a plan has no use for a key that takes a second. @default `selfSigned` */
  readonly selfSigned?: ClusterPass['selfSigned']
  /** Shared with the controller, which compiles patterns once. */
  readonly ignoredNamespaces?: IgnoredNamespacePatterns
}

/** What components are handed. */
export interface DynaKubeDependencies extends DynaKubeOptions {
  readonly certificates: LimitedCertificates
  readonly ignoredNamespaces: IgnoredNamespacePatterns
}
