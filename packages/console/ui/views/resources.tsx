/** All resources: searched, filtered, sorted by what needs attention first. */
import { useMemo } from 'preact/hooks'
import type { Health, ResourceRow } from '../../src/wire.ts'
import { Chip, HealthBadge, OutcomeBadge } from '../components/badges.tsx'
import { type Column, VirtualList } from '../components/virtual-list.tsx'
import { age, useNow } from '../state/clock.ts'
import { resourceLink, setQuery, useRoute } from '../state/routing.ts'
import { type Store, useStore } from '../state/store.ts'
import { useIsNarrow } from '../state/viewport.ts'

const ORDER: Readonly<Record<Health, number>> = { bad: 0, progressing: 1, good: 2, unknown: 3 }
const HEALTHS: readonly (readonly [Health, string])[] = [
  ['bad', 'Failing'],
  ['progressing', 'In progress'],
  ['good', 'Good'],
  ['unknown', 'Unknown'],
]

/** The view. */
export function Resources({ store }: { readonly store: Store }) {
  const { rows, revision, connection } = useStore(store)
  const { query } = useRoute()
  const nowMs = useNow()
  const isNarrow = useIsNarrow()
  const search = query.get('q') ?? ''
  const kind = query.get('kind') ?? ''
  const health = query.get('health') ?? ''
  const all = useMemo(() => [...rows.values()], [revision])
  const kinds = useMemo(() => countBy(all, (row) => row.kind), [all])
  const found = useMemo(
    () => all.filter((row) => matches(row, search) && (kind === '' || row.kind === kind)),
    [all, search, kind],
  )
  const healths = useMemo(() => countBy(found, (row) => row.health), [found])
  const shown = useMemo(
    () => found.filter((row) => health === '' || row.health === health).sort(byAttention),
    [found, health],
  )
  const open = (row: ResourceRow) => {
    location.hash = resourceLink(row)
  }
  return (
    <div class="view fill">
      <div class="toolbar">
        <h1>Resources</h1>
        <input
          type="search"
          id="search"
          aria-label="Search resources"
          placeholder="Search name, namespace or message  ( / )"
          value={search}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
        <div class="chips" role="group" aria-label="Kinds">
          {[...kinds].map(([name, count]) => (
            <Chip
              key={name}
              isOn={kind === name}
              count={count}
              onToggle={() => setQuery({ kind: kind === name ? '' : name })}
            >
              {name}
            </Chip>
          ))}
        </div>
        <div class="chips" role="group" aria-label="States">
          {HEALTHS.filter(([name]) => healths.has(name) || name === health).map(([name, title]) => (
            <Chip
              key={name}
              isOn={health === name}
              count={healths.get(name) ?? 0}
              onToggle={() => setQuery({ health: health === name ? '' : name })}
            >
              <span class={`sign ${name}`} aria-hidden="true">
                ■
              </span>
              {title}
            </Chip>
          ))}
        </div>
        <span class="muted number" role="status">
          {shown.length.toLocaleString()} of {all.length.toLocaleString()}
        </span>
      </div>
      <VirtualList
        label="Resources"
        items={shown}
        keyOf={({ id }) => id}
        rowHeight={isNarrow ? 58 : 32}
        columns={columnsAt(nowMs, isNarrow)}
        onOpen={open}
        empty={
          connection === 'loading' ? 'Loading…' : all.length === 0 ? 'There are no resources yet.' : 'Nothing matches.'
        }
      />
    </div>
  )
}

function columnsAt(nowMs: number, isNarrow: boolean): readonly Column<ResourceRow>[] {
  const name: Column<ResourceRow> = {
    name: 'Name',
    width: isNarrow ? 'minmax(0, 1fr)' : 'minmax(10rem, 2.2fr)',
    class: 'ellipsis',
    render: (row) => (
      <>
        <a href={resourceLink(row)} tabIndex={-1}>
          {row.namespace !== undefined && <span class="muted">{row.namespace}/</span>}
          {row.name}
        </a>
        {isNarrow && (
          <span class="second-line ellipsis">
            {[row.kind, age(row.createdMs, nowMs), row.message].filter((text) => text !== '').join(' · ')}
          </span>
        )}
      </>
    ),
  }
  const state: Column<ResourceRow> = {
    name: 'State',
    width: isNarrow ? '8rem' : '10rem',
    class: 'ellipsis',
    render: ({ health, phase, isPaused }) => (
      <HealthBadge health={isPaused ? 'unknown' : health} text={isPaused ? 'Paused' : phase} />
    ),
  }
  if (isNarrow) return [name, state]
  return [
    state,
    { name: 'Kind', width: '8rem', class: 'ellipsis', render: ({ kind }) => kind },
    name,
    {
      name: 'Message',
      width: 'minmax(6rem, 3fr)',
      class: 'ellipsis muted',
      render: ({ message }) => <span title={message}>{message}</span>,
    },
    { name: 'Age', width: '5.5rem', class: 'number', render: ({ createdMs }) => age(createdMs, nowMs) },
    {
      name: 'Last reconcile',
      width: '11rem',
      render: ({ lastReconcile, failures }) =>
        lastReconcile === undefined ? (
          <span class="muted">not yet</span>
        ) : (
          <>
            <OutcomeBadge outcome={lastReconcile.outcome} />{' '}
            <span class="muted">{age(lastReconcile.endedMs, nowMs)}</span>
            {failures > 1 && <span class="badge bad apart">×{failures}</span>}
          </>
        ),
    },
  ]
}

function matches(row: ResourceRow, search: string): boolean {
  if (search === '') return true
  const text = `${row.kind} ${row.namespace ?? ''}/${row.name} ${row.phase} ${row.message}`.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function byAttention(one: ResourceRow, other: ResourceRow): number {
  return ORDER[one.health] - ORDER[other.health] || compare(one.id, other.id)
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function countBy<T>(items: readonly T[], of: (item: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(of(item), (counts.get(of(item)) ?? 0) + 1)
  return new Map([...counts].sort(([one], [other]) => compare(one, other)))
}
