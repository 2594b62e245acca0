/** The page for people, and the control API behind its buttons. */
import type { CallLog } from '../call-log.ts'
import type { FaultRules } from '../fault-rules.ts'
import type { Call } from '../http/call.ts'
import { empty, json, type SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { simulatorBoard } from '../page/board.ts'
import { SimulatorPage } from '../page/simulator-page.ts'
import { readFaultRule } from '../read-fault-rule.ts'
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

/** What the page shows, as JSON. */
const BOARD_PATH = '/control/board'

/** Calls that concern the simulator itself: they are neither recorded nor subject to faults. */
export function controlRoutes(parts: ControlParts): readonly Route[] {
  const { tenants, faults, log } = parts
  const page = new SimulatorPage(BOARD_PATH)
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
    route('GET', '/', ({ path }) => page.file(path)),
    route('GET', '/main-:file', ({ path }) => page.file(path)),
    route('GET', BOARD_PATH, () =>
      json(
        200,
        simulatorBoard({
          authority: parts.authority(),
          tenants: [...tenants.values()],
          faults: faults.list(),
          operations: parts.operations(),
          calls: log.list(),
          callCount: log.count,
        }),
        { 'cache-control': 'no-store' },
      ),
    ),
    route('GET', '/control/tenants', () => json(200, { tenants: [...tenants.values()].map(describeTenant) })),
    route('GET', '/control/calls', () => json(200, { count: log.count, calls: log.list() })),
    route('DELETE', '/control/calls', () => {
      log.clear()
      return empty(204)
    }),
    route('GET', '/control/faults', () => json(200, { faults: faults.list() })),
    route('POST', '/control/faults', async (call) =>
      json(201, { id: faults.add(readFaultRule(await call.json())).id }),
    ),
    route('DELETE', '/control/faults', () => {
      faults.clear()
      return empty(204)
    }),
    route('DELETE', '/control/faults/:id', (_call, parameters) => {
      faults.remove(readId(parameters))
      return empty(204)
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

function readId({ id = '' }: PathParameters): number {
  if (!/^\d{1,9}$/.test(id)) throw violation('PATH', 'id', 'must be a number')
  return Number(id)
}

/** Pages of other origins must not press our buttons. Programs send no origin. */
function requireSameOrigin({ headers, host }: Call): void {
  const { origin } = headers
  if (origin === undefined || origin === `https://${host}`) return
  throw new Refusal(403, 'Only the page of the simulator itself may do this.')
}
