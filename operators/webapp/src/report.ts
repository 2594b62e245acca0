/** What a reconcile of a WebApp reports: its status, and events about what changed. */
import { Deployments } from '@reeve/kube'
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
  const status = deriveStatus({ webapp, deployment: cache.get(Deployments, key), failure }, clock)
  return { status, events: eventsOf(webapp, status, changes), requeueAfterMs: RESYNC_MS }
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
