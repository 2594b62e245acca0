/** Reconciles in time: a lane for each resource, a bar for each reconcile. */
import type { Reconcile } from '../../src/wire.ts'
import { duration, timeOfDay } from '../state/clock.ts'
import { outcomeOf } from './badges.tsx'
import { writesText } from './reconcile-detail.tsx'

/** Lanes that are shown at most. */
const MAX_LANES = 12
const TICKS = 4

/** The timeline of some reconciles. */
export function Timeline(props: {
  readonly reconciles: readonly Reconcile[]
  readonly nowMs: number
  readonly spanMs: number
  readonly selected?: number
  readonly onSelect: (reconcile: Reconcile) => void
  /** With one lane only, without names. */
  readonly isSingle?: boolean
}) {
  const { nowMs, spanMs, selected, onSelect, isSingle = false } = props
  const fromMs = nowMs - spanMs
  const shown = props.reconciles.filter(({ startedMs, durationMs }) => startedMs + durationMs >= fromMs)
  const lanes = new Map<string, Reconcile[]>()
  for (const reconcile of shown) {
    const name = isSingle ? '' : laneName(reconcile)
    const lane = lanes.get(name)
    if (lane !== undefined) lane.push(reconcile)
    else if (lanes.size < MAX_LANES) lanes.set(name, [reconcile])
  }
  const at = (ms: number) => `${Math.min(100, Math.max(0, (100 * (ms - fromMs)) / spanMs))}%`
  return (
    <div class={`timeline ${isSingle ? 'single' : ''}`}>
      {[...lanes].map(([name, reconciles]) => (
        <div class="lane" key={name}>
          {!isSingle && (
            <span class="name" title={name}>
              {name}
            </span>
          )}
          <span class="track">
            {reconciles.map((reconcile) => {
              const [health] = outcomeOf(reconcile.outcome)
              const text = `${timeOfDay(reconcile.startedMs)}, ${duration(reconcile.durationMs)}: ${writesText(reconcile) || 'no writes'}${reconcile.error ? `, ${reconcile.error}` : ''}`
              return (
                <button
                  type="button"
                  key={reconcile.sequence}
                  class={`bar ${health} ${reconcile.writes.length > 0 ? 'wrote' : ''}`}
                  aria-label={`${name} ${text}`}
                  aria-pressed={reconcile.sequence === selected}
                  title={text}
                  tabIndex={-1}
                  style={{
                    left: at(reconcile.startedMs),
                    width: `max(4px, ${(100 * reconcile.durationMs) / spanMs}%)`,
                  }}
                  onClick={() => onSelect(reconcile)}
                />
              )
            })}
          </span>
        </div>
      ))}
      {shown.length === 0 && <p class="muted">No reconcile in the last {duration(spanMs)}.</p>}
      <div class="axis" aria-hidden="true">
        {Array.from({ length: TICKS + 1 }, (_, index) => (
          <span key={index} style={{ left: `${(100 * index) / TICKS}%` }}>
            {timeOfDay(fromMs + (spanMs * index) / TICKS)}
          </span>
        ))}
      </div>
    </div>
  )
}

function laneName({ kind, namespace, name }: Reconcile): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
