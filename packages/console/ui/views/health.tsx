/** The health of the process: queues, watches, leadership, requests, memory. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { HealthInfo, HealthSample, InformerInfo, RequestCount, TableValue } from '../../src/wire.ts'
import { HealthBadge, Notice, Section } from '../components/badges.tsx'
import { Chart } from '../components/chart.tsx'
import { ValueTable } from '../components/sections.tsx'
import { age, duration, useNow } from '../state/clock.ts'
import { useLoaded } from '../state/load.ts'
import { type Store, useStore } from '../state/store.ts'

/** Informers and checks are loaded this often. */
const REFRESH_MS = 3_000
const MIB = 1024 * 1024

/** The view. */
export function Health({ store }: { readonly store: Store }) {
  const { samples } = useStore(store)
  const nowMs = useNow()
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((count) => count + 1), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const { value, problem } = useLoaded<HealthInfo>(store, 'health', {}, tick)
  const all = useMemo(() => merge(value?.samples ?? [], samples), [value, samples])
  if (problem !== undefined && value === undefined) return <Notice tone="bad">{problem}</Notice>
  if (value === undefined) return <div class="view muted">Loading…</div>
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Health</h1>
        {value.leaders.map(({ operator, isLeader, remainingMs }) => (
          <span key={operator} class="badge-group">
            <HealthBadge health={isLeader ? 'good' : 'unknown'} text={isLeader ? 'Leader' : 'Standby'} /> {operator}
            {remainingMs !== undefined && isLeader && <span class="muted"> lease ends in {duration(remainingMs)}</span>}
          </span>
        ))}
      </div>
      <div class="charts">
        <Charts samples={all} />
      </div>
      <Section title="Watches" note="last sign of life of each informer">
        <ValueTable table={watchesTable(value.informers, nowMs)} />
      </Section>
      <div class="columns">
        <Section title="API requests" note="since the start">
          <Requests requests={value.requests} />
        </Section>
        <Section title="Checks">
          <ValueTable table={checksTable(value.checks)} />
        </Section>
      </div>
    </div>
  )
}

function checksTable(checks: HealthInfo['checks']): TableValue {
  return {
    type: 'table',
    title: 'Checks',
    empty: 'There are none.',
    columns: ['Operator', 'Check', 'Result'],
    rows: checks.map(({ operator, name, failure }) => [
      operator,
      name,
      failure === undefined ? { text: 'ok', tone: 'good' } : { text: 'failed', tone: 'bad', detail: failure },
    ]),
  }
}

/** Those from the server, and those that arrived since. */
function merge(loaded: readonly HealthSample[], live: readonly HealthSample[]): readonly HealthSample[] {
  const lastMs = loaded.at(-1)?.atMs ?? 0
  return [...loaded, ...live.filter(({ atMs }) => atMs > lastMs)]
}

function Charts({ samples }: { readonly samples: readonly HealthSample[] }) {
  const timesMs = samples.map(({ atMs }) => atMs)
  const names = [...new Set(samples.flatMap(({ controllers }) => controllers.map(({ name }) => name)))]
  const perController = (of: (sample: HealthSample['controllers'][number]) => number) =>
    names.map((name) => ({
      name: name.split('/').at(-1) ?? name,
      values: samples.map(({ controllers }) => {
        const own = controllers.find((one) => one.name === name)
        return own === undefined ? 0 : of(own)
      }),
    }))
  const values = (name: string, of: (sample: HealthSample) => number) => ({ name, values: samples.map(of) })
  const total = (of: (sample: HealthSample['controllers'][number]) => number) => (sample: HealthSample) =>
    sample.controllers.reduce((sum, controller) => sum + of(controller), 0)
  const whole = (value: number) => String(Math.round(value * 10) / 10)
  return (
    <>
      <Chart title="Queue depth" timesMs={timesMs} series={perController(({ depth }) => depth)} format={whole} />
      <Chart
        title="Longest wait in the queue"
        timesMs={timesMs}
        series={perController(({ waitedMs }) => waitedMs)}
        format={(ms) => duration(ms)}
      />
      <Chart
        title="Reconciles every 2 s"
        timesMs={timesMs}
        series={[
          values(
            'all',
            total(({ reconciles }) => reconciles),
          ),
          values(
            'failed',
            total(({ errors }) => errors),
          ),
        ]}
        format={whole}
      />
      <Chart
        title="Memory"
        timesMs={timesMs}
        series={[
          values('resident', ({ residentBytes }) => residentBytes / MIB),
          values('heap', ({ heapBytes }) => heapBytes / MIB),
        ]}
        format={(value) => `${Math.round(value)} MiB`}
      />
      <Chart
        title="API requests every 2 s"
        timesMs={timesMs}
        series={[values('requests', ({ requests }) => requests)]}
        format={whole}
      />
      <Chart
        title="Event loop delay, p99"
        timesMs={timesMs}
        series={[values('delay', ({ loopDelayMs }) => loopDelayMs)]}
        format={(ms) => `${Math.round(ms)} ms`}
      />
    </>
  )
}

function watchesTable(informers: readonly InformerInfo[], nowMs: number): TableValue {
  return {
    type: 'table',
    title: 'Watches',
    empty: 'There are none.',
    columns: ['State', 'Watch', 'Objects', 'Last sign of life', 'Lists / watches', 'Last failure'],
    rows: informers.map((one) => {
      const { lastFailure } = one
      return [
        { text: one.state, tone: !one.isHealthy ? 'bad' : one.isSynced ? 'good' : 'warning' },
        { text: one.description, detail: one.operator },
        one.objects.toLocaleString(),
        one.lastContactMs === undefined ? 'none' : age(one.lastContactMs, nowMs),
        `${one.lists} / ${one.watches}`,
        lastFailure === undefined ? '' : { text: lastFailure.message, detail: `${age(lastFailure.atMs, nowMs)} ago` },
      ]
    }),
  }
}

function Requests({ requests }: { readonly requests: readonly RequestCount[] }) {
  if (requests.length === 0) return <p class="muted">Requests are not counted here.</p>
  const statuses = [...new Set(requests.map(({ status }) => status))].sort()
  const verbs = [...new Set(requests.map(({ verb }) => verb))]
  const countOf = (verb: string, status: string) =>
    requests.find((one) => one.verb === verb && one.status === status)?.count
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="API requests by verb and status">
      <table>
        <thead>
          <tr>
            <th scope="col">Verb</th>
            {statuses.map((status) => (
              <th scope="col" class="number" key={status}>
                {status}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {verbs.map((verb) => (
            <tr key={verb}>
              <th scope="row">{verb}</th>
              {statuses.map((status) => (
                <td class={`number ${/^[45n]/.test(status) ? 'failed' : ''}`} key={status}>
                  {countOf(verb, status)?.toLocaleString() ?? ''}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
