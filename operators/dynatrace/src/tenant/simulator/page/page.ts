/** The page on which a person watches what an operator does to the tenant. Plain HTML: it needs no script. */
import type { ReceivedCall } from '../call-log.ts'
import type { ActiveFaultRule } from '../fault-rules.ts'
import { FAULT_PRESETS } from '../read-fault-rule.ts'
import type { TenantState } from '../state/tenant-state.ts'
import { describeFault } from './describe-fault.ts'
import { type Markup, markup } from './markup.ts'
import { STYLE } from './style.ts'

/** What the page shows. */
export interface PageContent {
  readonly authority: string
  readonly tenants: readonly TenantState[]
  readonly faults: readonly ActiveFaultRule[]
  /** Names of calls, for the form. */
  readonly operations: readonly string[]
  readonly calls: readonly ReceivedCall[]
  /** Including those that are forgotten. */
  readonly callCount: number
  /** Seconds until the page loads itself again; 0: never. */
  readonly refreshSeconds: number
}

/** More would make the page slow to read and to load. */
const SHOWN_CALLS = 100

/** The whole page. */
export function renderPage(content: PageContent): string {
  const { authority, tenants, refreshSeconds } = content
  const refresh = refreshSeconds > 0 ? markup`<meta http-equiv="refresh" content="${refreshSeconds}">` : markup``
  const switchRefresh =
    refreshSeconds > 0
      ? markup`Refreshes every ${refreshSeconds} seconds. <a href="/?refresh=0">Stop refreshing</a>`
      : markup`<a href="/">Refresh every 5 seconds</a>`
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>Simulated Dynatrace tenant</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>Simulated Dynatrace tenant</h1><p>${authority} · ${switchRefresh}</p></header>
<main>
${tenants.map((tenant) => tenantSection(tenant, authority))}
${faultSection(content)}
${callsSection(content)}
</main>
</body>
</html>
`.html
}

function tenantSection(tenant: TenantState, authority: string): Markup {
  const { id, versions, tokens, oauth, settings, edgeConnects, activeGateTokens, hosts } = tenant
  const heading = `tenant-${id}`
  const rows = [
    ...tokens.list().map(({ name, masked, scopes }) => ({ name, masked, scopes })),
    ...oauth.list().map((client) => ({ name: 'OAuth client', masked: client.id, scopes: client.scopes })),
  ]
  return markup`<section aria-labelledby="${heading}">
<h2 id="${heading}">Tenant ${id}</h2>
<dl>
<dt>apiUrl</dt><dd><code>https://${authority}/e/${id}/api</code></dd>
<dt>OneAgent</dt><dd>${versions.agent}</dd>
<dt>ActiveGate</dt><dd>${versions.gateway}</dd>
<dt>Settings objects</dt><dd>${settings.list().length}</dd>
<dt>EdgeConnects</dt><dd>${edgeConnects.list().length}</dd>
<dt>ActiveGate tokens issued</dt><dd>${activeGateTokens.list().length}</dd>
<dt>Hosts / events</dt><dd>${hosts.hosts().length} / ${hosts.events().length}</dd>
</dl>
<table>
<caption>Tokens of ${id}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Token</th><th scope="col">Scopes</th></tr></thead>
<tbody>
${rows.map(({ name, masked, scopes }) => markup`<tr><th scope="row">${name}</th><td data-label="Token"><code>${masked}</code></td><td data-label="Scopes">${scopes.join(', ')}</td></tr>\n`)}
</tbody>
</table>
</section>
`
}

function faultSection({ faults, operations, tenants }: PageContent): Markup {
  const option = (value: string, title = value) => markup`<option value="${value}">${title}</option>`
  const list = faults.map(
    ({
      id,
      rule,
      injected,
    }) => markup`<li>${describeFault(rule)} <small>(injected into ${injected} ${injected === 1 ? 'call' : 'calls'})</small>
<form method="post" action="/control/faults/${id}/remove"><button>Remove</button></form></li>\n`,
  )
  return markup`<section aria-labelledby="faults">
<h2 id="faults">Faults</h2>
${faults.length === 0 ? markup`<p>None: every call gets a normal response.</p>` : markup`<ul>${list}</ul>`}
<form method="post" action="/control/faults" class="fields">
<label>What <select name="preset">${Object.entries(FAULT_PRESETS).map(([name, { title }]) => option(name, title))}</select></label>
<label>Call <select name="operation">${option('', 'every call')}${operations.map((name) => option(name))}</select></label>
<label>Tenant <select name="tenant">${option('', 'every tenant')}${tenants.map(({ id }) => option(id))}</select></label>
<label>How many calls <input name="times" type="number" min="1" max="1000000" placeholder="until removed"></label>
<button>Inject fault</button>
</form>
<form method="post" action="/control/faults/clear"><button>Clear all faults</button></form>
</section>
`
}

function callsSection({ calls, callCount }: PageContent): Markup {
  const newest = calls.slice(-SHOWN_CALLS).toReversed()
  const rows = newest.map((call) => {
    const isBad = call.status === 0 || call.status >= 400
    return markup`<tr${isBad ? markup` class="bad"` : undefined}>
${cells([
  call.number,
  markup`<time datetime="${iso(call.receivedMs)}">${iso(call.receivedMs).slice(11, 23)}</time>`,
  call.method,
  markup`<code>${call.path}</code>`,
  `${call.status === 0 ? 'cut' : call.status}${call.faults.length > 0 ? ` (${call.faults.join(', ')})` : ''}`,
  `${Math.round(call.durationMs)} ms`,
  call.tenant ?? '–',
  call.token ?? '–',
])}</tr>\n`
  })
  return markup`<section aria-labelledby="calls">
<h2 id="calls">Calls</h2>
<table>
<caption>${callCount} calls received; the newest ${newest.length} are shown, times in UTC</caption>
<thead><tr>${COLUMNS.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}
</tbody>
</table>
<form method="post" action="/control/calls/clear"><button>Forget these calls</button></form>
</section>
`
}

const COLUMNS = ['Number', 'Time', 'Method', 'Path', 'Status', 'Duration', 'Tenant', 'Token']

/** Cells of a row of calls. On a narrow screen the style shows the label in front of each. */
function cells(values: readonly (Markup | string | number)[]): readonly Markup[] {
  return values.map((value, index) => markup`<td data-label="${COLUMNS[index]}">${value}</td>`)
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
