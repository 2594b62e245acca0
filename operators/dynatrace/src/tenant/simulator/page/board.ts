/** What the page shows on which a person watches what an operator does to the tenant. */
import type { BoardData, BoardSection } from '@reeve/console/board'
import type { ReceivedCall } from '../call-log.ts'
import type { ActiveFaultRule } from '../fault-rules.ts'
import { FAULT_PRESETS } from '../read-fault-rule.ts'
import type { TenantState } from '../state/tenant-state.ts'
import { describeFault } from './describe-fault.ts'

/** What the page is made of. */
export interface BoardContent {
  readonly authority: string
  readonly tenants: readonly TenantState[]
  readonly faults: readonly ActiveFaultRule[]
  /** Names of calls, for the form. */
  readonly operations: readonly string[]
  readonly calls: readonly ReceivedCall[]
  /** Including those that are forgotten. */
  readonly callCount: number
}

/** More would make the page slow to read and to load. */
const SHOWN_CALLS = 100

const MAX_TIMES = 1_000_000

/** The page as values. Tokens are masked. */
export function simulatorBoard(content: BoardContent): BoardData {
  const { authority, tenants } = content
  return {
    title: 'Simulated Dynatrace tenant',
    subtitle: authority,
    sections: [
      faultsSection(content),
      faultForm(content),
      callsSection(content),
      ...tenants.flatMap((tenant) => tenantSections(tenant, authority)),
    ],
  }
}

function faultsSection({ faults }: BoardContent): BoardSection {
  return {
    type: 'table',
    title: 'Faults',
    empty: 'None: every call gets a normal response.',
    columns: ['Fault', 'Calls so far'],
    rows: faults.map(({ rule, injected }) => [{ text: describeFault(rule), tone: 'bad' }, String(injected)]),
    rowActions: faults.map(({ id }) => ({ label: 'Remove', method: 'DELETE', path: `/control/faults/${id}` })),
    ...(faults.length > 1 && {
      actions: [{ label: 'Remove all faults', method: 'DELETE', path: '/control/faults' }],
    }),
  }
}

function faultForm({ operations, tenants }: BoardContent): BoardSection {
  const presets = Object.entries(FAULT_PRESETS).map(([name, { title }]) => [name, title] as const)
  const same = (names: readonly string[]) => names.map((name) => [name, name] as const)
  return {
    type: 'form',
    title: 'Inject a fault',
    fields: [
      { name: 'preset', label: 'What', input: { options: presets } },
      { name: 'operation', label: 'Call', input: { options: [['', 'every call'], ...same(operations)] } },
      {
        name: 'tenant',
        label: 'Tenant',
        input: { options: [['', 'every tenant'], ...same(tenants.map(({ id }) => id))] },
      },
      { name: 'times', label: 'How many calls', input: { max: MAX_TIMES }, placeholder: 'until removed' },
    ],
    action: { label: 'Inject fault', method: 'POST', path: '/control/faults' },
  }
}

function callsSection({ calls, callCount }: BoardContent): BoardSection {
  const newest = calls.slice(-SHOWN_CALLS).toReversed()
  return {
    type: 'table',
    title: 'Calls',
    note: `${callCount} received; the newest ${newest.length} are shown, times in UTC`,
    empty: 'No operator has called yet.',
    columns: ['Time', 'Status', 'Call', 'Duration', 'Tenant', 'Token'],
    rows: newest.map((call) => [
      new Date(call.receivedMs).toISOString().slice(11, 23),
      statusCell(call),
      { text: call.operation, detail: `${call.method} ${call.path}` },
      `${Math.round(call.durationMs)} ms`,
      call.tenant ?? '–',
      call.token ?? '–',
    ]),
    ...(newest.length > 0 && {
      actions: [{ label: 'Clear calls', method: 'DELETE', path: '/control/calls' }],
    }),
  }
}

/** The status, and the faults that made it so. */
function statusCell({ status, faults }: ReceivedCall) {
  const isBad = status === 0 || status >= 400
  return {
    text: status === 0 ? 'cut' : String(status),
    tone: isBad ? ('bad' as const) : ('good' as const),
    ...(faults.length > 0 && { detail: `fault: ${faults.join(', ')}` }),
  }
}

function tenantSections(tenant: TenantState, authority: string): readonly BoardSection[] {
  const { id, versions, tokens, oauth, settings, edgeConnects, activeGateTokens, hosts } = tenant
  return [
    {
      type: 'facts',
      title: `Tenant ${id}`,
      facts: [
        ['apiUrl', `https://${authority}/e/${id}/api`],
        ['OneAgent', versions.agent],
        ['ActiveGate', versions.gateway],
        ['Settings objects', String(settings.list().length)],
        ['EdgeConnects', String(edgeConnects.list().length)],
        ['ActiveGate tokens', `${activeGateTokens.list().length} issued`],
        ['Hosts and events', `${hosts.hosts().length} hosts, ${hosts.events().length} events`],
      ],
    },
    {
      type: 'table',
      title: `Tokens of ${id}`,
      empty: 'There are none.',
      columns: ['Name', 'Token', 'Scopes'],
      rows: [
        ...tokens.list().map(({ name, masked, scopes }) => [name, masked, scopes.join(', ')]),
        ...oauth.list().map((client) => ['OAuth client', client.id, client.scopes.join(', ')]),
      ],
    },
  ]
}
