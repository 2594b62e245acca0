/** What the steps of a pass work with. */
import type { Clock } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import type { TenantClient } from '../../../tenant/client/tenant-client.ts'
import type { MakeCertificate } from '../../generated/self-signed.ts'
import type { NamespaceView } from '../../references/namespace-view.ts'
import type { OperatorFacts } from '../render-input.ts'
import type { StatusDraft } from '../status-draft.ts'

/** Everything that a step before the tenant is known needs. */
export interface ClusterPass {
  readonly draft: StatusDraft
  readonly view: NamespaceView
  readonly operator: OperatorFacts
  readonly clock: Clock
  /** Bytes that nobody can guess. */
  readonly randomBytes: (count: number) => Uint8Array
  /** Makes the certificates of servers inside the cluster. */
  readonly selfSigned: MakeCertificate
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Everything that a step needs which asks the tenant. */
export interface Pass extends ClusterPass {
  readonly tenant: TenantClient
}
