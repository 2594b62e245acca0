/** Small marks: how a thing stands, how a reconcile ended. Colour is never the only sign. */
import type { ComponentChildren } from 'preact'
import type { Health } from '../../src/wire.ts'

const SIGNS: Readonly<Record<Health, string>> = { good: '●', progressing: '◐', bad: '▲', unknown: '○' }

/** The state of a resource or object, as a sign and a word. */
export function HealthBadge({ health, text }: { readonly health: Health; readonly text: string }) {
  return (
    <span class={`badge ${health}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[health]}
      </span>
      {text || (health === 'unknown' ? 'unknown' : health)}
    </span>
  )
}

const OUTCOMES: Readonly<Record<string, readonly [Health, string]>> = {
  success: ['good', 'ok'],
  requeue_after: ['good', 'ok'],
  conflict: ['progressing', 'conflict'],
  error: ['bad', 'error'],
  terminal: ['bad', 'terminal'],
  timeout: ['bad', 'timeout'],
  aborted: ['unknown', 'aborted'],
  paused: ['unknown', 'paused'],
}

/** Health and word of an outcome. */
export function outcomeOf(outcome: string): readonly [Health, string] {
  return OUTCOMES[outcome] ?? ['unknown', outcome]
}

/** How a reconcile ended. */
export function OutcomeBadge({ outcome }: { readonly outcome: string }) {
  const [health, text] = outcomeOf(outcome)
  return <HealthBadge health={health} text={text} />
}

/** A choice that can be on or off. */
export function Chip(props: {
  readonly isOn: boolean
  readonly onToggle: () => void
  readonly children: ComponentChildren
  readonly count?: number
}) {
  const { isOn, onToggle, children, count } = props
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={onToggle}>
      {children}
      {count !== undefined && <span class="count">{count.toLocaleString()}</span>}
    </button>
  )
}

/** A sentence instead of content. */
export function Notice({
  tone = 'neutral',
  children,
}: {
  readonly tone?: string
  readonly children: ComponentChildren
}) {
  return (
    <p class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      {children}
    </p>
  )
}

/** A part of a page under a heading. */
export function Section(props: {
  readonly title: string
  readonly note?: ComponentChildren
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
  readonly class?: string
}) {
  const id = `section-${props.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
  return (
    <section class={`panel ${props.class ?? ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.note !== undefined && <span class="note">{props.note}</span>}
        {props.action}
      </header>
      {props.children}
    </section>
  )
}
