/** One resource: how it stands, how it came there, what belongs to it, and what would happen next. */
import { useEffect, useState } from 'preact/hooks'
import type { Condition, ConditionChange, OwnedObject, PlanResult, Reconcile, ResourceDetail } from '../../src/wire.ts'
import { HealthBadge, Notice, OutcomeBadge, Section } from '../components/badges.tsx'
import { PlanChanges } from '../components/plan-changes.tsx'
import { causesText, ReconcileDetail, writesText } from '../components/reconcile-detail.tsx'
import { ValueTable } from '../components/sections.tsx'
import { Timeline } from '../components/timeline.tsx'
import { post } from '../state/api.ts'
import { age, duration, timeOfDay, useNow } from '../state/clock.ts'
import { useLoaded } from '../state/load.ts'
import { linkTo, setQuery, useRoute } from '../state/routing.ts'
import { type Store, useStore } from '../state/store.ts'

const SPAN_MS = 10 * 60_000

/** The view. */
export function Resource({ store }: { readonly store: Store }) {
  const { parts, query } = useRoute()
  const [operator = '', kind = '', namespace = '', name = ''] = parts
  const { reconciles } = useStore(store)
  const nowMs = useNow()
  // Loaded again with each of its reconciles.
  const newest = reconciles.find((one) => isOf(one, parts))?.sequence ?? 0
  const { value, problem } = useLoaded<ResourceDetail>(store, 'resource', { operator, kind, namespace, name }, newest)
  const title = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
  const at = Number(query.get('at') ?? Number.NaN)
  if (problem !== undefined) {
    return (
      <div class="view">
        <h1>{title}</h1>
        <Notice tone="bad">{problem}</Notice>
        <p>
          <a href={linkTo('resources')}>All resources</a>
        </p>
      </div>
    )
  }
  if (value === undefined) return <div class="view muted">Loading…</div>
  const { row, conditions, history, owned, events, eventsProblem } = value
  const selected = value.reconciles.find(({ sequence }) => sequence === at)
  return (
    <div class="view">
      <div class="toolbar">
        <h1>
          <a class="quiet" href={linkTo('resources', [], { kind })}>
            {kind}
          </a>{' '}
          {namespace !== '' && <span class="muted">{namespace}/</span>}
          {name}
        </h1>
        <HealthBadge health={row.health} text={row.phase} />
        <span class="muted">{age(row.createdMs, nowMs)} old</span>
        <a class="button" href={linkTo('plan', [operator, kind, namespace, name])}>
          Edit and plan
        </a>
      </div>
      {row.message !== '' && row.health !== 'good' && (
        <Notice tone={row.health === 'bad' ? 'bad' : 'warning'}>{row.message}</Notice>
      )}
      <div class="columns">
        <div>
          <Section title="Conditions">
            <Conditions conditions={conditions} nowMs={nowMs} />
            {history.length > 0 && <ConditionLanes history={history} nowMs={nowMs} />}
          </Section>
          <Section title="Owned objects" note={owned.length === 0 ? undefined : String(owned.length)}>
            {owned.length === 0 ? (
              <p class="muted">It owns no objects that the operator watches.</p>
            ) : (
              <Tree objects={owned} nowMs={nowMs} />
            )}
          </Section>
          <NextReconcile key={row.id} address={{ operator, kind, namespace, name }} store={store} />
        </div>
        <div>
          <Section title="Reconciles" note={`last ${duration(SPAN_MS)}`}>
            <Timeline
              reconciles={value.reconciles}
              nowMs={nowMs}
              spanMs={SPAN_MS}
              selected={at}
              isSingle
              onSelect={({ sequence }) => setQuery({ at: String(sequence) })}
            />
            <ReconcileList reconciles={value.reconciles} selected={selected} nowMs={nowMs} />
          </Section>
          <Section title="Events" note={eventsProblem}>
            {events.length === 0 && <p class="muted">No events.</p>}
            <ul class="events">
              {events.map((event) => (
                <li key={`${event.reason}${event.lastMs}${event.message}`}>
                  <span class={`badge ${event.type === 'Warning' ? 'bad' : 'unknown'}`}>{event.reason}</span>
                  <span>{event.message}</span>
                  <span class="muted number">
                    {event.count > 1 ? `×${event.count} ` : ''}
                    {age(event.lastMs, nowMs)}
                  </span>
                </li>
              ))}
            </ul>
          </Section>
          <Section title="Manifest">
            <details>
              <summary>Spec</summary>
              <pre tabIndex={0}>{value.yaml}</pre>
            </details>
            <details>
              <summary>Status</summary>
              <pre tabIndex={0}>{value.statusYaml}</pre>
            </details>
          </Section>
        </div>
      </div>
    </div>
  )
}

function isOf(reconcile: Reconcile, [operator, kind, namespace, name]: readonly string[]): boolean {
  return (
    reconcile.operator === operator &&
    reconcile.kind === kind &&
    (reconcile.namespace ?? '') === namespace &&
    reconcile.name === name
  )
}

function Conditions({ conditions, nowMs }: { readonly conditions: readonly Condition[]; readonly nowMs: number }) {
  const rows = conditions.map(({ type, status, reason = '', message = '', lastTransitionTime = '' }) => [
    type,
    status,
    reason,
    message,
    age(Date.parse(lastTransitionTime) || 0, nowMs),
  ])
  const columns = ['Type', 'Status', 'Reason', 'Message', 'Since']
  return <ValueTable table={{ type: 'table', title: 'Conditions', empty: 'It has no conditions.', columns, rows }} />
}

/** A lane for each condition: filled while it is true. */
function ConditionLanes({ history, nowMs }: { readonly history: readonly ConditionChange[]; readonly nowMs: number }) {
  const fromMs = Math.min(...history.map(({ atMs }) => atMs), nowMs - 60_000)
  const types = [...new Set(history.map(({ type }) => type))]
  const at = (ms: number) => (100 * (ms - fromMs)) / Math.max(1, nowMs - fromMs)
  return (
    <div class="lanes">
      <h3>In time</h3>
      {types.map((type) => {
        const changes = history.filter((change) => change.type === type)
        return (
          <div class="lane" key={type}>
            <span class="name">{type}</span>
            <span class="track">
              {changes.map((change, index) => {
                const untilMs = changes[index + 1]?.atMs ?? nowMs
                const text = `${timeOfDay(change.atMs)} ${change.status}${change.reason ? `, ${change.reason}` : ''}${change.message ? `: ${change.message}` : ''}`
                return (
                  <span
                    key={`${change.atMs}${change.status}${change.reason}`}
                    class={`span ${change.status.toLowerCase()}`}
                    title={text}
                    style={{ left: `${at(change.atMs)}%`, width: `max(2px, ${at(untilMs) - at(change.atMs)}%)` }}
                  >
                    <span class="visually-hidden">{text}</span>
                  </span>
                )
              })}
            </span>
          </div>
        )
      })}
      <div class="axis" aria-hidden="true">
        <span style={{ left: '0%' }}>{timeOfDay(fromMs)}</span>
        <span style={{ left: '100%' }}>now</span>
      </div>
    </div>
  )
}

function Tree({ objects, nowMs }: { readonly objects: readonly OwnedObject[]; readonly nowMs: number }) {
  return (
    <ul class="tree">
      {objects.map((object) => (
        <li key={`${object.kind}${object.namespace}${object.name}`}>
          <div class="node">
            <HealthBadge health={object.health} text={object.kind} />
            <span class="ellipsis">
              {object.namespace !== undefined && <span class="muted">{object.namespace}/</span>}
              {object.name}
            </span>
            <span class="muted ellipsis">{object.message}</span>
            <span class="muted number">
              {object.lastWriteMs === undefined
                ? `${age(object.createdMs, nowMs)} old`
                : `written ${age(object.lastWriteMs, nowMs)} ago`}
            </span>
          </div>
          {object.children.length > 0 && <Tree objects={object.children} nowMs={nowMs} />}
        </li>
      ))}
    </ul>
  )
}

function ReconcileList(props: {
  readonly reconciles: readonly Reconcile[]
  readonly selected: Reconcile | undefined
  readonly nowMs: number
}) {
  const { reconciles, selected, nowMs } = props
  const [isAll, setAll] = useState(false)
  const shown = isAll ? reconciles : reconciles.slice(0, 8)
  return (
    <>
      <ul class="reconcile-list">
        {shown.map((reconcile) => (
          <li key={reconcile.sequence}>
            <button
              type="button"
              class="line"
              aria-expanded={reconcile === selected}
              onClick={() => setQuery({ at: reconcile === selected ? '' : String(reconcile.sequence) })}
            >
              <OutcomeBadge outcome={reconcile.outcome} />
              <span class="ellipsis">{causesText(reconcile)}</span>
              <span class="ellipsis muted">{reconcile.error ?? writesText(reconcile)}</span>
              <span class="number muted">{duration(reconcile.durationMs)}</span>
              <span class="number muted">{age(reconcile.startedMs, nowMs)}</span>
            </button>
            {reconcile === selected && <ReconcileDetail reconcile={reconcile} isOnResource />}
          </li>
        ))}
      </ul>
      {reconciles.length > shown.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {reconciles.length}
        </button>
      )}
      {selected !== undefined && !shown.includes(selected) && <ReconcileDetail reconcile={selected} isOnResource />}
    </>
  )
}

function NextReconcile(props: {
  readonly address: {
    readonly operator: string
    readonly kind: string
    readonly namespace: string
    readonly name: string
  }
  readonly store: Store
}) {
  const { address, store } = props
  const [plan, setPlan] = useState<PlanResult | 'pending' | undefined>(undefined)
  const run = () => {
    setPlan('pending')
    post<PlanResult>('plan', address).then(setPlan, (error: unknown) =>
      setPlan({ changes: [], unchanged: 0, findings: [], problem: store.refused(error) }),
    )
  }
  useEffect(() => setPlan(undefined), [address.name, address.namespace, address.kind])
  return (
    <Section
      title="Next reconcile"
      action={
        <button type="button" onClick={run} disabled={plan === 'pending'}>
          {plan === 'pending' ? 'Planning…' : 'Plan it'}
        </button>
      }
    >
      {plan === undefined && (
        <p class="muted">
          What the next reconcile would write, rehearsed on a copy of the cluster. It should be nothing.
        </p>
      )}
      {plan !== undefined && plan !== 'pending' && <PlanChanges plan={plan} />}
    </Section>
  )
}
