/** The report of explorations: what was tried, and each divergence with its trace, both end states and the difference. */
import { useEffect } from 'preact/hooks'
import type { EndState, FieldChange, ReportData, ReportedDivergence, ReportedExploration } from '../../src/wire.ts'
import { HealthBadge, Notice, Section } from '../components/badges.tsx'
import { FieldDiff } from '../components/field-diff.tsx'
import { ThemeButton } from '../components/theme-button.tsx'
import { duration } from '../state/clock.ts'
import { linkTo, useRoute } from '../state/routing.ts'

/** The page. */
export function Report({ report }: { readonly report: ReportData }) {
  const { page, parts } = useRoute()
  const { explorations, generatedMs, summary } = report
  const exploration = explorations.find(({ operator }) => operator === parts[0])
  const divergence = exploration?.divergences.find(
    ({ pattern, point }) => pattern === parts[1] && String(point) === parts[2],
  )
  useEffect(() => {
    document.title = `${divergence === undefined ? 'Exploration' : `${divergence.pattern} ${divergence.point}`} · Reeve`
    scrollTo(0, 0)
  }, [page, parts.join()])
  return (
    <>
      <header class="top">
        <span class="brand">
          <span aria-hidden="true">◆</span> reeve
        </span>
        <nav aria-label="Views">
          <a href={linkTo('report')} aria-current={divergence === undefined ? 'page' : undefined}>
            Exploration
          </a>
        </nav>
        <span class="muted">{new Date(generatedMs).toLocaleString()}</span>
        <ThemeButton />
      </header>
      <main>
        {exploration !== undefined && divergence !== undefined ? (
          <Divergence exploration={exploration} divergence={divergence} />
        ) : (
          <div class="view">
            <div class="toolbar">
              <h1>Exploration</h1>
              <span class="muted">{summary}</span>
            </div>
            {explorations.map((one) => (
              <Exploration key={one.operator} exploration={one} />
            ))}
          </div>
        )}
      </main>
    </>
  )
}

function Exploration({ exploration }: { readonly exploration: ReportedExploration }) {
  const { operator, scenario, seed, runs, patterns, divergences, unconfirmed = [] } = exploration
  const about = [...(scenario === operator ? [] : [scenario]), ...(seed === undefined ? [] : [`seed ${seed}`])]
  return (
    <Section title={operator} note={[...about, `${runs} runs`].join(', ')}>
      {divergences.length === 0 && <Notice tone="good">Every run ended as the one without a fault.</Notice>}
      {divergences.length > 0 && (
        <ul class="reconcile-list">
          {divergences.map(({ pattern, point, label, problems }) => (
            <li key={`${pattern}${point}`}>
              <a class="line" href={linkTo('report', [operator, pattern, String(point)])}>
                <HealthBadge health="bad" text={pattern} />
                <span class="ellipsis">
                  point {point}: {label}
                </span>
                <span class="ellipsis muted">{problems.map(({ message }) => message).join('; ')}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {unconfirmed.length > 0 && (
        <details>
          <summary>{unconfirmed.length} seen once, not confirmed by a repetition</summary>
          <ul class="reconcile-list">
            {unconfirmed.map(({ pattern, label, message }) => (
              <li key={pattern + label}>
                <strong>{pattern}</strong> {label}: <span class="muted">{message}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label={`Patterns of ${operator}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Pattern</th>
              <th scope="col">Coverage</th>
              <th scope="col" class="number">
                Points
              </th>
              <th scope="col" class="number">
                Runs
              </th>
              <th scope="col" class="number">
                Missed
              </th>
              <th scope="col" class="number">
                Divergences
              </th>
              <th scope="col" class="number" title="of all runs together, also of those at the same time">
                Run time
              </th>
            </tr>
          </thead>
          <tbody>
            {patterns.map((one) => (
              <tr key={one.pattern}>
                <th scope="row" title={one.title}>
                  <span class="muted">{one.number}</span> {one.pattern}
                </th>
                <td>{one.coverage}</td>
                <td class="number">{one.points}</td>
                <td class="number">{one.explored}</td>
                <td class="number">{one.missed}</td>
                <td class={`number ${one.divergences > 0 ? 'failed' : ''}`}>{one.divergences}</td>
                <td class="number">{duration(one.durationMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

function Divergence(props: { readonly exploration: ReportedExploration; readonly divergence: ReportedDivergence }) {
  const { exploration, divergence } = props
  const { pattern, point, label, problems, differences, trace, endStates, replay, steps = [] } = divergence
  const objects = [...new Set(differences.map(({ object }) => object))]
  return (
    <div class="view">
      <div class="toolbar">
        <h1>
          <a class="quiet" href={linkTo('report')}>
            {exploration.operator}
          </a>{' '}
          {pattern} <span class="muted">point {point}</span>
        </h1>
      </div>
      <Notice>{label}</Notice>
      {problems.map(({ kind, message }) => (
        <Notice tone="bad" key={kind + message}>
          <strong>{kind}: </strong>
          {message}
        </Notice>
      ))}
      <Section title="Replay">
        <pre class="wrap" tabIndex={0}>
          {replay}
        </pre>
        {steps.length > 0 && <p class="muted">Needs the steps: {steps.join(', ')}</p>}
      </Section>
      <div class="columns">
        <Section title="What happened" note={`${trace.length} entries`}>
          <ol class="trace">
            {trace.map((entry, index) => (
              <li key={index} class={entry.kind === 'fault' ? 'fault' : ''}>
                <span class="number muted">{(entry.atMs / 1_000).toFixed(3)}</span>
                <span class="muted">{entry.instance === 0 ? '' : `op-${entry.instance}`}</span>
                <span class="kind">{entry.kind}</span>
                <span class="wrap">{entry.text}</span>
              </li>
            ))}
          </ol>
          {trace.length === 0 && <p class="muted">No trace was kept.</p>}
        </Section>
        <Section title="Difference" note="without the fault → with it">
          {differences.length === 0 && <p class="muted">The end states do not differ.</p>}
          {objects.map((object) => (
            <div key={object}>
              <h3>{object}</h3>
              <FieldDiff changes={differences.filter((one) => one.object === object).map(asChange)} />
            </div>
          ))}
        </Section>
      </div>
      {endStates.map((state) => (
        <EndStates key={state.object} state={state} />
      ))}
    </div>
  )
}

function asChange({ field, undisturbed, disturbed }: ReportedDivergence['differences'][number]): FieldChange {
  return {
    path: field === '' ? 'the object' : field,
    ...(undisturbed !== undefined && { before: undisturbed }),
    ...(disturbed !== undefined && { after: disturbed }),
  }
}

/** Both states of an object, lines that differ marked. */
function EndStates({ state: { object, undisturbed, disturbed } }: { readonly state: EndState }) {
  return (
    <Section title={object} note="both end states">
      <div class="columns">
        <StateText title="Without the fault" text={undisturbed} other={disturbed} />
        <StateText title="With the fault" text={disturbed} other={undisturbed} />
      </div>
    </Section>
  )
}

function StateText(props: {
  readonly title: string
  readonly text: string | undefined
  readonly other: string | undefined
}) {
  const { title, text, other = '' } = props
  const known = new Set(other.split('\n'))
  return (
    <div>
      <h3>{title}</h3>
      {text === undefined ? (
        <p class="muted">The object does not exist.</p>
      ) : (
        <pre tabIndex={0}>
          {text.split('\n').map((line, index) => (
            <span key={index} class={known.has(line) ? '' : 'differs'}>
              {line}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </div>
  )
}
