/** The page for people, and the control API behind its buttons. */
import type { CallLog } from '../call-log.ts'
import type { FaultRules } from '../fault-rules.ts'
import type { Call } from '../http/call.ts'
import { empty, html, json, type SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { renderPage } from '../page/page.ts'
import { readFaultForm, readFaultRule } from '../read-fault-rule.ts'
import { Refusal, violation } from '../refusal.ts'
import type { TenantState } from '../state/tenant-state.ts'

/** What can be watched and switched. */
export interface ControlParts {
  readonly tenants: ReadonlyMap<string, TenantState>
  readonly faults: FaultRules
  readonly log: CallLog
  authority(): string
  operations(): readonly string[]
}

const REFRESH_SECONDS = 5

/** The page loads nothing and is shown in no frame; its forms lead back here. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control': 'no-store',
  // With no-referrer browsers would send the forms with the origin null, which matches nothing.
  'referrer-policy': 'same-origin',
}

/** Calls that concern the simulator itself: they are neither recorded nor subject to faults. */
export function controlRoutes(parts: ControlParts): readonly Route[] {
  const { tenants, faults, log } = parts
  const route = (
    method: Route['method'],
    path: string,
    handle: (call: Call, parameters: PathParameters) => SimulatedResponse | Promise<SimulatedResponse>,
  ): Route => ({
    operation: 'control',
    method,
    path,
    area: 'simulator',
    errors: 'tenant',
    isOwn: true,
    handle(call, parameters) {
      if (method !== 'GET') requireSameOrigin(call)
      return handle(call, parameters)
    },
  })
  return [
    route('GET', '/', ({ query }) =>
      html(
        200,
        renderPage({
          authority: parts.authority(),
          tenants: [...tenants.values()],
          faults: faults.list(),
          operations: parts.operations(),
          calls: log.list(),
          callCount: log.count,
          refreshSeconds: query.get('refresh') === '0' ? 0 : REFRESH_SECONDS,
        }),
        PAGE_HEADERS,
      ),
    ),
    route('GET', '/control/tenants', () => json(200, { tenants: [...tenants.values()].map(describeTenant) })),
    route('GET', '/control/calls', () => json(200, { count: log.count, calls: log.list() })),
    route('DELETE', '/control/calls', () => {
      log.clear()
      return empty(204)
    }),
    route('POST', '/control/calls/clear', () => {
      log.clear()
      return backToPage()
    }),
    route('GET', '/control/faults', () => json(200, { faults: faults.list() })),
    route('POST', '/control/faults', async (call) => {
      if (isForm(call)) {
        faults.add(readFaultForm(await call.form()))
        return backToPage()
      }
      return json(201, { id: faults.add(readFaultRule(await call.json())).id })
    }),
    route('DELETE', '/control/faults', () => {
      faults.clear()
      return empty(204)
    }),
    route('DELETE', '/control/faults/:id', (_call, parameters) => {
      faults.remove(readId(parameters))
      return empty(204)
    }),
    route('POST', '/control/faults/clear', () => {
      faults.clear()
      return backToPage()
    }),
    route('POST', '/control/faults/:id/remove', (_call, parameters) => {
      faults.remove(readId(parameters))
      return backToPage()
    }),
  ]
}

/** Masked as on the page. */
function describeTenant({ id, tokens, versions, settings, edgeConnects }: TenantState) {
  return {
    id,
    tokens: tokens.list().map(({ name, masked, scopes }) => ({ name, masked, scopes })),
    agentVersion: versions.agent,
    gatewayVersion: versions.gateway,
    settingsObjects: settings.list().map(({ objectId, schemaId, scope }) => ({ objectId, schemaId, scope })),
    edgeConnects: edgeConnects.list().map(({ id: edgeConnectId, name }) => ({ id: edgeConnectId, name })),
  }
}

function backToPage(): SimulatedResponse {
  return empty(303, { location: '/?refresh=0#faults' })
}

function isForm({ headers }: Call): boolean {
  return headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
}

function readId({ id = '' }: PathParameters): number {
  if (!/^\d{1,9}$/.test(id)) throw violation('PATH', 'id', 'must be a number')
  return Number(id)
}

/** Pages of other origins must not submit our forms. Programs send no origin. */
function requireSameOrigin({ headers, host }: Call): void {
  const { origin } = headers
  if (origin === undefined || origin === `https://${host}`) return
  throw new Refusal(403, 'Only the page of the simulator itself may do this.')
}
