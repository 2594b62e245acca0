/** What rendering looks at: everything is known by then, nothing is asked any more. */
import type { DynaKube, DynaKubeStatus } from '../../api/latest.ts'
import type { KeyPair } from '../generated/self-signed.ts'
import type { SecretData } from '../rendering/secret-data.ts'

/** The operator that renders. */
export interface OperatorFacts {
  /** As it was built; part of labels. */
  readonly version: string
  /** The image of the operator itself, which also serves as an init container. */
  readonly image: string
  /** Whether the CSI driver is installed. */
  readonly hasCsiDriver: boolean
}

/**
 * Texts that come from other objects, from the tenant, or were made up and are kept in Secrets. A member is absent
 * until it is known; a component that needs it waits.
 */
export interface Material {
  readonly apiToken?: string
  readonly paasToken?: string
  readonly dataIngestToken?: string
  /** The token with which agents connect. */
  readonly oneAgentTenantToken?: string
  /** The token with which gateways connect. */
  readonly activeGateTenantToken?: string
  readonly activeGateAuthToken?: string
  /** The Secret of that token is to be replaced: it goes in this pass and comes back in the next. */
  readonly isActiveGateAuthTokenOutdated?: boolean
  /** What the operator made for gateways without a certificate of the user. */
  readonly activeGateKeyPair?: KeyPair
  /** The certificate of gateways that clients must trust: the user's or the operator's. */
  readonly activeGateCertificate?: string
  /** The text of the user's settings of the gateway. */
  readonly activeGateCustomProperties?: string
  /** The part of it that gateways restart for, as earlier releases took it. */
  readonly activeGateHashedProperties?: string
  readonly extensionTokens?: { readonly controller: string; readonly datasource: string }
  readonly extensionsKeyPair?: KeyPair
  /** The user's Secret with the certificate of the extension controller. */
  readonly extensionsTlsData?: SecretData
  /** The user's Secret with the certificate of telemetry ingest. */
  readonly telemetryTlsData?: SecretData
  readonly kspmToken?: string
  /** How many executors of a database run now, by its id. */
  readonly databaseReplicas?: Readonly<Record<string, number>>
  /** The address of the proxy, with its password. */
  readonly proxyUrl?: string
  /** Certificates that the user trusts, as PEM. */
  readonly trustedCertificates?: string
  /** The configuration of code modules, as the tenant gave it. */
  readonly processModuleConfig?: ProcessModuleConfig
}

/** The configuration of code modules. */
export interface ProcessModuleConfig {
  /** A whole number, as text: beyond 2^53 a number would not keep it. */
  readonly revision: string
  readonly properties: readonly { readonly section: string; readonly key: string; readonly value: string }[]
}

/** Input of every component. */
export interface RenderInput {
  /** With the status as it will be written in this pass. */
  readonly dynakube: DynaKube & { readonly status: DynaKubeStatus }
  readonly operator: OperatorFacts
  readonly material: Material
}
