/** What a reconcile of a WebApp reports: its status, and events about what changed. */
import { type Deployment, Deployments } from '@reeve/kube'
import type { Occurrence, ReconcileReport, ReconcileSummary } from '@reeve/runtime'
import type { Change } from '@reeve/runtime/engine'
import type { WebApp, WebAppStatus } from './api/webapp.ts'
import { deriveStatus } from './status.ts'

/** WebApps are reconciled this often even when nothing happens. */
const RESYNC_MS = 30_000

/** Derives status and events from what was applied and what is live. */
export function report({
  primary: webapp,
  cache,
  clock,
  key,
  changes,
  failure,
}: ReconcileSummary<WebApp>): ReconcileReport<WebApp> {
  // What was written just now, as the server returned it: the cache may already show what others made of it, and the
  // phase in between would depend on who was faster. Their writes are events, and the next report is about these.
  const deployment = writtenDeployment(changes) ?? cache.get(Deployments, key)
  const status = deriveStatus({ webapp, deployment, failure }, clock)
  return { status, events: eventsOf(webapp, status, changes), requeueAfterMs: RESYNC_MS }
}

function writtenDeployment(changes: readonly Change[]): Deployment | undefined {
  const change = changes.find(({ type, resource }) => type !== 'deleted' && resource === Deployments)
  // Objects of this resource have this type.
  return change?.object as Deployment | undefined
}

/** One event per change of phase, with the objects written; or one for the objects only. */
function eventsOf(webapp: WebApp, status: WebAppStatus, changes: readonly Change[]): readonly Occurrence[] {
  const written = changes.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`).join(', ')
  const before = webapp.status?.phase ?? 'Created'
  if (status.phase === before) return written === '' ? [] : [{ type: 'Normal', reason: 'Applied', message: written }]
  const isBad = status.phase === 'Degraded'
  const condition = status.conditions?.find(({ type }) => type === (isBad ? 'Degraded' : 'Progressing'))
  const details = [written, status.phase === 'Ready' ? '' : condition?.message].filter((part) => part)
  const message = [`${before} → ${status.phase}`, ...(details.length > 0 ? [details.join('; ')] : [])].join(': ')
  return [{ type: isBad ? 'Warning' : 'Normal', reason: status.phase, message }]
}
