/** Reconciles the webhook's certificates: once before everything else, then as long as the operator runs. */
import { sleep } from '@reeve/http'
import { type Deployment, Deployments, isNotFound } from '@reeve/kube'
import type { FunctionController } from '@reeve/runtime/operator'
import { WEBHOOK_NAME } from '../../installed-names.ts'
import { type CertificatesDependencies, ensureCertificates } from './ensure-certificates.ts'

/** Between two reconciles when nothing happens: well below the time that is left when a renewal falls due. */
const RECHECK_MS = 3 * 3_600_000

/** Between two attempts of the first reconcile. */
const RETRY_MS = 5_000

/**
 * Keeps the certificates valid while the operator runs. Reconciles whenever the webhook's Deployment changes, as it does
 * in every upgrade, and every three hours.
 */
export function certificatesController(namespace: string): FunctionController<Deployment> {
  return {
    name: 'webhook-certificates',
    for: { resource: Deployments, namespace, fieldSelector: `metadata.name=${WEBHOOK_NAME}` },
    reconcile: async ({ object, client, clock, logger, signal }) => {
      if (object === undefined) return
      await ensureCertificates(object, { client, clock, logger, signal })
      return { requeueAfterMs: RECHECK_MS }
    },
  }
}

/**
 * Resolves after the first successful reconcile. An operator waits for it before it caches DynaKubes: listing them may
 * need the conversion webhook. Waits for the webhook's Deployment if it does not exist yet; rejects with the signal's
 * reason only.
 */
export async function firstCertificates(namespace: string, dependencies: CertificatesDependencies): Promise<void> {
  const { client, clock, logger, signal } = dependencies
  for (;;) {
    signal.throwIfAborted()
    try {
      const deployment = await client.get(Deployments, { namespace, name: WEBHOOK_NAME }, { signal })
      await ensureCertificates(deployment, dependencies)
      return
    } catch (error) {
      signal.throwIfAborted()
      if (isNotFound(error)) logger.info({ deployment: WEBHOOK_NAME }, 'waiting for the webhook to be installed')
      else logger.warn({ err: error }, 'could not prepare the webhook certificates')
    }
    await sleep(RETRY_MS, { clock, signal })
  }
}
