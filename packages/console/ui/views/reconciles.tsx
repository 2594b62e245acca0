/** All reconciles: a timeline per resource, and each in full. */
import { useMemo } from 'preact/hooks'
import type { Reconcile } from '../../src/wire.ts'
import { Chip, Notice, OutcomeBadge } from '../components/badges.tsx'
import { causesText, ReconcileDetail, writesText } from '../components/reconcile-detail.tsx'
import { Timeline } from '../components/timeline.tsx'
import { type Column, VirtualList } from '../components/virtual-list.tsx'
import { duration, timeOfDay, useNow } from '../state/clock.ts'
import { setQuery, useRoute } from '../state/routing.ts'
import { type Store, useStore } from '../state/store.ts'
import { useIsNarrow } from '../state/viewport.ts'

const SPAN_MS = 5 * 60_000

/** The view. */
export function Reconciles({ store }: { readonly store: Store }) {
  const { reconciles, overview } = useStore(store)
  const { query } = useRoute()
  const nowMs = useNow()
  const isNarrow = useIsNarrow()
  const [search, controller, only] = [query.get('q') ?? '', query.get('controller') ?? '', query.get('only') ?? '']
  const shown = useMemo(
    () => reconciles.filter((one) => matches(one, { search, controller, only })),
    [reconciles, search, controller, only],
  )
  const at = Number(query.get('at') ?? Number.NaN)
  const selected = reconciles.find(({ sequence }) => sequence === at)
  const select = ({ sequence }: Reconcile) => setQuery({ at: sequence === at ? '' : String(sequence) })
  const names = overview?.operators.flatMap(({ controllers }) => controllers.map(({ name }) => name)) ?? []
  return (
    <div class="view fill">
      <div class="toolbar">
        <h1>Reconciles</h1>
        <input
          type="search"
          id="search"
          aria-label="Search reconciles"
          placeholder="Search name, cause, write or error  ( / )"
          value={search}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
        <div class="chips" role="group" aria-label="Controllers">
          {names.map((name) => (
            <Chip
              key={name}
              isOn={controller === name}
              onToggle={() => setQuery({ controller: controller === name ? '' : name })}
            >
              {name}
            </Chip>
          ))}
        </div>
        <div class="chips" role="group" aria-label="Which">
          <Chip isOn={only === 'writes'} onToggle={() => setQuery({ only: only === 'writes' ? '' : 'writes' })}>
            With writes
          </Chip>
          <Chip isOn={only === 'errors'} onToggle={() => setQuery({ only: only === 'errors' ? '' : 'errors' })}>
            Failed
          </Chip>
        </div>
        <span class="muted number" role="status">
          {shown.length.toLocaleString()}
        </span>
      </div>
      <section class="panel" aria-label={`Timeline of the last ${duration(SPAN_MS)}`}>
        <Timeline reconciles={shown} nowMs={nowMs} spanMs={SPAN_MS} selected={at} onSelect={select} />
      </section>
      <div class={`split ${selected === undefined ? '' : 'open'}`}>
        <VirtualList
          label="Reconciles"
          items={shown}
          keyOf={({ sequence }) => String(sequence)}
          columns={isNarrow ? NARROW : selected === undefined ? COLUMNS : BESIDE_DETAIL}
          rowHeight={isNarrow ? 58 : 32}
          selected={String(at)}
          onOpen={select}
          empty="No reconcile matches."
        />
        {selected !== undefined && (
          <aside class="panel" aria-label="Selected reconcile">
            <button type="button" class="close" aria-label="Close" onClick={() => setQuery({ at: '' })}>
              ×
            </button>
            <ReconcileDetail reconcile={selected} />
          </aside>
        )}
        {Number.isFinite(at) && selected === undefined && reconciles.length > 0 && (
          <Notice>This reconcile is not kept any more.</Notice>
        )}
      </div>
    </div>
  )
}

const COLUMNS: readonly Column<Reconcile>[] = [
  { name: 'Time', width: '5.5rem', class: 'number', render: ({ startedMs }) => timeOfDay(startedMs) },
  { name: 'Outcome', width: '7rem', render: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { name: 'Resource', width: 'minmax(9rem, 1.4fr)', class: 'ellipsis', render: titleOf },
  { name: 'Cause', width: 'minmax(8rem, 2fr)', class: 'ellipsis muted', render: causesText },
  { name: 'Writes', width: 'minmax(8rem, 2fr)', class: 'ellipsis', render: (one) => one.error ?? writesText(one) },
  { name: 'Took', width: '4.5rem', class: 'number', render: ({ durationMs }) => duration(durationMs) },
]

/** There is less room beside the selected one, which has the rest. */
const BESIDE_DETAIL = COLUMNS.filter(({ name }) => name !== 'Cause' && name !== 'Took')

const NARROW: readonly Column<Reconcile>[] = [
  {
    name: 'Resource',
    width: 'minmax(0, 1fr)',
    class: 'ellipsis',
    render: (one) => (
      <>
        {titleOf(one)}
        <span class="second-line ellipsis">
          {timeOfDay(one.startedMs)} · {one.error ?? (writesText(one) || causesText(one))}
        </span>
      </>
    ),
  },
  { name: 'Outcome', width: '7rem', render: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
]

function titleOf({ kind, namespace, name }: Reconcile) {
  return (
    <>
      <span class="muted">{kind}</span> {namespace !== undefined && <span class="muted">{namespace}/</span>}
      {name}
    </>
  )
}

function matches(
  one: Reconcile,
  { search, controller, only }: { readonly search: string; readonly controller: string; readonly only: string },
): boolean {
  if (controller !== '' && one.controller !== controller) return false
  if (only === 'writes' && one.writes.length === 0) return false
  if (only === 'errors' && one.error === undefined) return false
  if (search === '') return true
  const text = [one.kind, `${one.namespace ?? ''}/${one.name}`, causesText(one), writesText(one), one.error ?? '']
  const whole = text.join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word))
}
