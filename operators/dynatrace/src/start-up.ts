/** What is done before controllers start, while the kubelet already probes the process. */
import { type Clock, systemClock } from '@reeve/http'
import type { KubeClient } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { HealthChecks, HealthServer } from '@reeve/runtime/health'
import type { ServerAddress } from '@reeve/runtime/manager'
import { firstCertificates } from './controllers/certificates/certificates-controller.ts'
import { firstStorageMigration } from './controllers/storage-migration/first-storage-migration.ts'

/** What {@link startUp} works with. */
export interface StartUp {
  readonly client: KubeClient
  readonly namespace: string
  /** Listing DynaKubes may need the conversion webhook, and that its certificate. */
  readonly issuesCertificates: boolean
  readonly migratesStorage: boolean
  readonly healthAddress: ServerAddress
  readonly logger: Logger
  readonly clock?: Clock
  readonly signal: AbortSignal
}

/**
 * Waits for the webhook's Deployment and issues its certificates, then migrates stored DynaKubes: in this order,
 * because a migration converts. Every replica does so, since none leads yet; both may be repeated at any time. The
 * address is free again afterwards.
 *
 * *Errors*: the signal's reason; what keeps the server from listening.
 *
 * @example
 * await startUp({ client, namespace, issuesCertificates, migratesStorage, healthAddress, logger, signal })
 */
export async function startUp({ namespace, healthAddress, clock = systemClock, ...options }: StartUp): Promise<void> {
  const { client, logger, issuesCertificates, migratesStorage } = options
  const done = new AbortController()
  const health = new HealthServer({ ...healthAddress, health: new HealthChecks(), logger })
  const serving = health.run(done.signal)
  // A server that fails aborts the steps with its error as the reason.
  serving.catch((error) => done.abort(error))
  const signal = AbortSignal.any([options.signal, done.signal])
  try {
    if (issuesCertificates) await firstCertificates(namespace, { client, clock, logger, signal })
    if (migratesStorage) await firstStorageMigration(namespace, { client, clock, logger, signal })
  } finally {
    done.abort()
    await serving
  }
}
