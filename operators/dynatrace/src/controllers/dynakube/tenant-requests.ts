/** When the tenant is called, and how its errors are reported. */
import { apiRequestThresholdMs } from '../../api/dynakube/tenant-facts.ts'
import { dynatraceApiMessage, REASONS } from './conditions/reasons.ts'
import type { DynaKubeContext } from './dynakube-component.ts'

/**
 * Whether the tenant may be called again for what a condition reports: it was never called, the last call failed, or
 * the request threshold has passed. A missing scope counts as a response.
 */
export function isOutdated({ reporter, clock }: Pick<DynaKubeContext, 'reporter' | 'clock'>, type: string): boolean {
  const condition = reporter.condition(type)
  if (condition === undefined) return true
  if (condition.status === 'False' && condition.reason !== REASONS.scopeMissing) return true
  return Date.parse(condition.lastTransitionTime) + apiRequestThresholdMs(reporter.primary) <= clock.now()
}

/** Sends a request to the tenant and reports its failure in a condition. */
export async function reported<T>(
  { reporter, signal }: Pick<DynaKubeContext, 'reporter' | 'signal'>,
  type: string,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error) {
      const message = dynatraceApiMessage(error)
      reporter.setCondition({ type, status: 'False', reason: REASONS.dynatraceApiError, message })
    }
    throw error
  }
}
