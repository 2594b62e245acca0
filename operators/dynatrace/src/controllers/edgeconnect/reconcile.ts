/** How EdgeConnects are reconciled: their components, and what their status says as a whole. */
import { Deployments, isApiError, Secrets } from '@reeve/kube'
import { formatTime, type ReconcileReport, type ReconcileSummary, type Reporter, RuntimeError } from '@reeve/runtime'
import { type EngineReconcile, reconcileComponents } from '@reeve/runtime/components'
import { isJsonEqual } from '@reeve/runtime/engine'
import { configSecretName } from '../../api/edgeconnect/edgeconnect-facts.ts'
import { type EdgeConnect, EdgeConnects } from '../../api/latest.ts'
import { changeEvents } from '../change-events.ts'
import { FIELD_MANAGER } from '../field-manager.ts'
import { automation } from './components/automation/automation.ts'
import { image } from './components/image/image.ts'
import { deregistration } from './components/registration/deregistration.ts'
import { ForeignEdgeConnectError } from './components/registration/provision.ts'
import { registration } from './components/registration/registration.ts'
import { workload } from './components/workload/workload.ts'
import type { EdgeConnectOptions } from './edge-connect-component.ts'

export type { EdgeConnectOptions } from './edge-connect-component.ts'

/** Keeps an EdgeConnect until the tenant forgot it. The name is that of earlier releases. */
const FINALIZER = 'server'

const REQUEUE_MS = 30 * 60_000

/** The kinds that an EdgeConnect owns. */
export const OWNED = [Secrets, Deployments] as const

const CONDITION = 'SecretConfigConditionType'

/**
 * The reconcile function of EdgeConnects.
 *
 * *Guarantees*: may be cut after any write and run again; an EdgeConnect that was made in the tenant is removed
 * there before the resource goes.
 *
 * @example
 * controller({ name: 'edgeconnect', for: EdgeConnects, owns: OWNED, reconcile: edgeConnectReconcile({ clusterId }) })
 */
export function edgeConnectReconcile(options: EdgeConnectOptions): EngineReconcile<EdgeConnect> {
  return reconcileComponents<EdgeConnect, EdgeConnectOptions>({
    resource: EdgeConnects,
    owned: OWNED,
    fieldManager: FIELD_MANAGER,
    finalizer: FINALIZER,
    components: [image, registration, deregistration, workload, automation],
    dependencies: options,
    report,
  })
}

function report(summary: ReconcileSummary<EdgeConnect>, reporter: Reporter<EdgeConnect>): ReconcileReport<EdgeConnect> {
  const { primary, before, changes, failure, isDeleting, isReady, clock, logger } = summary
  if (isDeleting && failure === undefined) return { keepsStatus: true }
  reporter.setCondition({ type: CONDITION, ...conditionOf(primary, failure) })
  const isForeign = failure instanceof ForeignEdgeConnectError
  const isRunning = isForeign
    ? summary.outcomes.some(({ name, isReady }) => name === workload.name && isReady)
    : isReady
  reporter.update({ phase: failure !== undefined && !isForeign ? 'Error' : isRunning ? 'Running' : 'Deploying' })
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
