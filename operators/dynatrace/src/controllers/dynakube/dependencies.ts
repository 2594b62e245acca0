/** What reconciling DynaKubes needs besides the cluster. */
import type { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import type { TenantClient, TenantClientOptions } from '../../tenant/client/tenant-client.ts'
import type { LimitedCertificates } from '../generated/limited-certificates.ts'
import type { MakeCertificate } from '../generated/self-signed.ts'

/** The operator that renders. */
export interface OperatorFacts {
  /** The version of its build; part of labels. */
  readonly version: string
  /** The image of the operator itself, which also serves as an init container. */
  readonly image: string
  /** Whether the CSI driver is installed. */
  readonly hasCsiDriver: boolean
}

/** Settings of the operator that change which scopes tokens need. */
export interface ScopeSettings {
  /** Whether the operator reports nodes that are removed. */
  readonly detectsHostAvailability: boolean
}

/** Options of the operator. */
export interface DynaKubeOptions extends ScopeSettings {
  readonly operator: OperatorFacts
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** How often agents are listed in the status. @default 5 min */
  readonly instancesIntervalMs?: number
  /** @default a client with its own connections */
  readonly connect?: (options: TenantClientOptions) => TenantClient
  /** Unpredictable bytes. @default those of `node:crypto` */
  readonly randomBytes?: (count: number) => Uint8Array
  /** Makes certificates; a plan does not need a real key, which takes a second. @default `selfSigned` */
  readonly selfSigned?: MakeCertificate
  /** Shared with the controller, which compiles patterns once. */
  readonly ignoredNamespaces?: IgnoredNamespacePatterns
}

/** What components depend on. */
export interface DynaKubeDependencies extends DynaKubeOptions {
  readonly connect: (options: TenantClientOptions) => TenantClient
  readonly randomBytes: (count: number) => Uint8Array
  readonly certificates: LimitedCertificates
  /** Begins to generate the keys of so many certificates, which are needed soon. */
  readonly prepareKeys: (count: number) => void
  readonly ignoredNamespaces: IgnoredNamespacePatterns
}
