/** One reconcile in full: why it ran, what took how long, what it wrote, how it failed and what to do. */
import type { Cause, Reconcile, Write } from '../../src/wire.ts'
import { duration, timeOfDay } from '../state/clock.ts'
import { linkTo, resourceLink } from '../state/routing.ts'
import { OutcomeBadge } from './badges.tsx'
import { FieldDiff } from './field-diff.tsx'

/** What a cause means, in words. */
function causeText({ event, kind, namespace, name }: Cause): string {
  if (kind !== undefined) return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''} ${event}`
  const words: Readonly<Record<string, string>> = {
    requeue: 'timer',
    retry: 'retry after a failure',
    resync: 'periodic resync',
    external: 'requested by another part',
  }
  return words[event] ?? event
}

/** All causes on one line. */
export function causesText({ causes, omittedCauses }: Reconcile): string {
  const more = omittedCauses > 0 ? `, ${omittedCauses} more` : ''
  return `${causes.map(causeText).join(', ')}${more}`
}

/** What was written, on one line. */
export function writesText({ writes, omittedWrites }: Reconcile): string {
  const texts = writes.map((write) => `${write.verb} ${write.kind}${write.subresource ? `/${write.subresource}` : ''}`)
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const distinct = [...counts].map(([text, count]) => (count > 1 ? `${text} ×${count}` : text))
  return [...distinct, ...(omittedWrites > 0 ? [`${omittedWrites} more`] : [])].join(', ')
}

/** The detail. */
export function ReconcileDetail({
  reconcile,
  isOnResource = false,
}: {
  readonly reconcile: Reconcile
  readonly isOnResource?: boolean
}) {
  const { kind, namespace, name, startedMs, durationMs, waitedMs, attempt, outcome, nextRunMs } = reconcile
  return (
    <div class="reconcile">
      <h3>
        <OutcomeBadge outcome={outcome} />
        {!isOnResource && (
          <a href={resourceLink(reconcile)}>
            {kind} {namespace === undefined ? '' : `${namespace}/`}
            {name}
          </a>
        )}
        <a class="quiet" href={linkTo('reconciles', [], { at: String(reconcile.sequence) })}>
          {reconcile.reconcileId}
        </a>
      </h3>
      <dl class="facts">
        <dt>Started</dt>
        <dd>
          <time dateTime={new Date(startedMs).toISOString()}>{timeOfDay(startedMs, true)}</time>, took{' '}
          {duration(durationMs)} after waiting {duration(waitedMs)}
        </dd>
        <dt>Cause</dt>
        <dd>
          <ul class="plain">
            {reconcile.causes.map((cause) => (
              <li key={causeText(cause)}>{causeText(cause)}</li>
            ))}
            {reconcile.omittedCauses > 0 && <li class="muted">{reconcile.omittedCauses} more events</li>}
          </ul>
        </dd>
        {attempt > 1 && (
          <>
            <dt>Attempt</dt>
            <dd>{attempt}</dd>
          </>
        )}
        {nextRunMs !== undefined && (
          <>
            <dt>Next</dt>
            <dd>at {timeOfDay(nextRunMs)}, or earlier when something changes</dd>
          </>
        )}
      </dl>
      {reconcile.error !== undefined && <Failure reconcile={reconcile} error={reconcile.error} />}
      {reconcile.stages.length > 0 && <Stages reconcile={reconcile} />}
      <h4>{reconcile.writes.length === 0 ? 'Nothing was written' : 'Writes'}</h4>
      {reconcile.writes.map((write, index) => (
        <WriteDetail key={index} write={write} />
      ))}
      {reconcile.omittedWrites > 0 && <p class="muted">{reconcile.omittedWrites} more writes were not recorded</p>}
    </div>
  )
}

function Failure({ reconcile, error }: { readonly reconcile: Reconcile; readonly error: string }) {
  const { errorCode } = reconcile
  const known = errorCode === undefined ? undefined : REMEDIES[errorCode]
  return (
    <div class="failure">
      <p class="message">{error}</p>
      {errorCode !== undefined && (
        <p>
          <code>{errorCode}</code>
          {known !== undefined && (
            <>
              {': '}
              {known.meaning}. <strong>What to do:</strong> {known.remedy}.
            </>
          )}
        </p>
      )}
    </div>
  )
}

function Stages({ reconcile: { stages, durationMs } }: { readonly reconcile: Reconcile }) {
  const total = Math.max(
    durationMs,
    stages.reduce((sum, stage) => sum + stage.durationMs, 0),
    1,
  )
  return (
    <>
      <h4>Stages</h4>
      <ul class="stages">
        {stages.map(({ name, durationMs: ms }) => (
          <li key={name}>
            <span class="name">{name}</span>
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${Math.max((100 * ms) / total, ms > 0 ? 1 : 0)}%` }} />
            </span>
            <span class="number">{duration(ms)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

function WriteDetail({ write }: { readonly write: Write }) {
  const { verb, kind, namespace, name, subresource, durationMs, failure, changes } = write
  const isCreation = verb === 'create'
  return (
    <details class="write" open={changes !== undefined && changes.length <= 12 && !isCreation}>
      <summary>
        <span class={`verb ${verb}`}>{verb}</span> {kind} {namespace === undefined ? '' : `${namespace}/`}
        {name}
        {subresource !== undefined && <span class="muted"> {subresource}</span>}
        <span class="number">{duration(durationMs)}</span>
        {failure !== undefined && <span class="badge bad">{failure}</span>}
      </summary>
      {changes === undefined && <p class="muted">The state before is not known, so the changes are not either.</p>}
      {changes?.length === 0 && <p class="muted">No field differs.</p>}
      {changes !== undefined && changes.length > 0 && <FieldDiff changes={changes} isWhole={isCreation} />}
    </details>
  )
}
