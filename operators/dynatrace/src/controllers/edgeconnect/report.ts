/** The status of an EdgeConnect as a whole: its phase, its condition, and when to reconcile it again. */
import { isApiError } from '@reeve/kube'
import { formatTime, type ReconcileReport, type ReconcileSummary, type Reporter, RuntimeError } from '@reeve/runtime'
import { isJsonEqual } from '@reeve/runtime/engine'
import { configSecretName } from '../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../../api/latest.ts'
import { changeEvents } from '../change-events.ts'
import { readyCondition } from '../ready-condition.ts'
import { ForeignEdgeConnectError } from './components/registration/provision.ts'
import { workload } from './components/workload/workload.ts'

const REQUEUE_MS = 30 * 60_000

const CONDITION = 'SecretConfigConditionType'

/** What the status of an EdgeConnect says as a whole. */
export function reportEdgeConnect(
  summary: ReconcileSummary<EdgeConnect>,
  reporter: Reporter<EdgeConnect>,
): ReconcileReport<EdgeConnect> {
  const { primary, before, changes, failure, isDeleting, isReady, clock, logger } = summary
  if (isDeleting && failure === undefined) return { keepsStatus: true }
  reporter.setCondition({ type: CONDITION, ...conditionOf(primary, failure) })
  const isForeign = failure instanceof ForeignEdgeConnectError
  const isRunning = isForeign
    ? summary.outcomes.some(({ name, isReady }) => name === workload.name && isReady)
    : isReady
  const phase = failure !== undefined && !isForeign ? 'Error' : isRunning ? 'Running' : 'Deploying'
  reporter.setCondition(readyCondition(phase, summary))
  reporter.update({ phase })
  if (!isJsonEqual(before.status ?? {}, reporter.status)) {
    reporter.update({ updatedTimestamp: formatTime(clock.now()) })
  }
  // Only a person can resolve it: retrying soon would not help.
  if (isForeign) logger.warn({ err: failure }, 'EdgeConnect is not managed by an operator, left unchanged')
  const events = changeEvents({ before: before.status?.phase, after: reporter.status?.phase, changes })
  return { events, requeueAfterMs: REQUEUE_MS, isHandled: isForeign }
}

function conditionOf(edgeConnect: EdgeConnect, failure: Error | undefined) {
  if (failure === undefined) {
    const message = `${configSecretName(edgeConnect)} created`
    return { status: 'True', reason: 'SecretCreated', message } as const
  }
  // The engine's own errors are about objects in the cluster, too.
  const isOfCluster = isApiError(failure) || failure instanceof RuntimeError
  return {
    status: 'False',
    reason: isOfCluster ? 'KubeApiError' : 'SecretGenerationFailed',
    message: failure.message,
  } as const
}
