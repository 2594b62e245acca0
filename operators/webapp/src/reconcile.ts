/** What happens to one WebApp: render its objects, apply them, report how they fare. */
import { Deployments, Ingresses, Services } from '@reeve/kube'
import {
  type Change,
  type Occurrence,
  type ReconcileReport,
  type ReconcileSummary,
  reconcileComponents,
} from '@reeve/runtime'
import { type WebApp, type WebAppStatus, WebApps } from './api/webapp.ts'
import { InvalidWebAppError } from './invalid-webapp-error.ts'
import { FIELD_MANAGER } from './render/labels.ts'
import { renderWebApp } from './render/render.ts'
import { deriveStatus } from './status.ts'
import { validateWebApp } from './validate-webapp.ts'

/** The kinds that a WebApp owns. */
export const OWNED = [Deployments, Services, Ingresses] as const

/** WebApps are looked at this often even when nothing happens. */
export const RESYNC_MS = 30_000

/**
 * The reconcile function of WebApps.
 *
 * @example
 * controller({ name: 'webapp', for: WebApps, owns: OWNED, reconcile: webAppReconcile() })
 */
export function webAppReconcile() {
  return reconcileComponents<WebApp, undefined>({
    resource: WebApps,
    owned: OWNED,
    fieldManager: FIELD_MANAGER,
    components: [
      {
        name: 'application',
        render({ primary }) {
          const { problems } = validateWebApp(primary)
          if (problems.length > 0) throw new InvalidWebAppError(problems)
          return renderWebApp(primary)
        },
      },
    ],
    report,
  })
}

function report({ primary, cache, clock, key, changes, failure }: ReconcileSummary<WebApp>): ReconcileReport<WebApp> {
  const status = deriveStatus({ webapp: primary, deployment: cache.get(Deployments, key), failure }, clock)
  return { status, events: remarksOf(primary, status, changes), requeueAfterMs: RESYNC_MS }
}

/** One event per change of phase, saying what was written on the way; or one for what was written alone. */
function remarksOf(webapp: WebApp, status: WebAppStatus, changes: readonly Change[]): readonly Occurrence[] {
  const written = changes.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`).join(', ')
  const before = webapp.status?.phase ?? 'Created'
  if (status.phase === before) return written === '' ? [] : [{ type: 'Normal', reason: 'Applied', message: written }]
  const isBad = status.phase === 'Degraded'
  const condition = status.conditions?.find(({ type }) => type === (isBad ? 'Degraded' : 'Progressing'))
  const details = [written, status.phase === 'Ready' ? '' : condition?.message].filter((part) => part)
  const message = [`${before} → ${status.phase}`, ...(details.length > 0 ? [details.join('; ')] : [])].join(': ')
  return [{ type: isBad ? 'Warning' : 'Normal', reason: status.phase, message }]
}
