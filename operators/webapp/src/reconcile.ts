/** What happens to one WebApp: render its objects, apply them, report how they fare. */
import { Deployments, Ingresses, Services } from '@reeve/kube'
import { type Change, type Occurrence, type Outcome, type PipelineContext, pipeline, type Report } from '@reeve/runtime'
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
  return pipeline({
    resource: WebApps,
    owned: OWNED,
    fieldManager: FIELD_MANAGER,
    render(webapp) {
      const { problems } = validateWebApp(webapp)
      if (problems.length > 0) throw new InvalidWebAppError(problems)
      return renderWebApp(webapp)
    },
    report,
  })
}

function report(
  { cache, clock, key }: PipelineContext,
  webapp: WebApp,
  { applied, failure }: Outcome<undefined, undefined>,
): Report<WebAppStatus> {
  const deployment = cache.get(Deployments, key)
  const status = deriveStatus({ webapp, deployment, failure }, clock)
  return {
    status,
    remarks: [...applied.changes.map(changeRemark), ...phaseRemarks(webapp, status)],
    requeueAfterMs: RESYNC_MS,
  }
}

const VERBS = { created: 'Created', updated: 'Updated', deleted: 'Deleted' } as const

function changeRemark({ type, object }: Change): Occurrence {
  const verb = VERBS[type]
  return { type: 'Normal', reason: `${verb}${object.kind}`, message: `${verb} ${object.kind} ${object.metadata.name}` }
}

function phaseRemarks(webapp: WebApp, status: WebAppStatus): readonly Occurrence[] {
  const before = webapp.status?.phase ?? 'Created'
  if (status.phase === before) return []
  const isBad = status.phase === 'Degraded'
  const condition = status.conditions?.find(({ type }) => type === (isBad ? 'Degraded' : 'Progressing'))
  const detail = status.phase === 'Ready' || !condition?.message ? '' : `: ${condition.message}`
  return [{ type: isBad ? 'Warning' : 'Normal', reason: status.phase, message: `${before} → ${status.phase}${detail}` }]
}
