/** What an operator shows of its own subject: tables and facts that it describes as values. */
import { useEffect, useState } from 'preact/hooks'
import { Notice, Section } from '../components/badges.tsx'
import { useLoaded } from '../state/load.ts'
import { useRoute } from '../state/routing.ts'
import type { Store } from '../state/store.ts'

const REFRESH_MS = 5_000

interface Cell {
  readonly text: string
  readonly tone?: string
  readonly detail?: string
}

type SectionValue =
  | {
      readonly type: 'table'
      readonly title: string
      readonly empty: string
      readonly columns: readonly string[]
      readonly rows: readonly (readonly (Cell | string)[])[]
    }
  | { readonly type: 'facts'; readonly title: string; readonly facts: readonly (readonly [string, Cell | string])[] }

/** The view. */
export function OperatorView({ store }: { readonly store: Store }) {
  const { parts } = useRoute()
  const [operator = '', id = ''] = parts
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((count) => count + 1), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const loaded = useLoaded<{ readonly title: string; readonly sections: readonly SectionValue[] }>(
    store,
    'view',
    { operator, id },
    tick,
  )
  const { value, problem } = loaded
  return (
    <div class="view">
      <div class="toolbar">
        <h1>{value?.title ?? ''}</h1>
        <span class="muted">{operator}</span>
      </div>
      {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
      {value?.sections.map((section) => (
        <Section key={section.title} title={section.title}>
          {section.type === 'facts' ? <Facts facts={section.facts} /> : <Table section={section} />}
        </Section>
      ))}
    </div>
  )
}

function Facts({ facts }: { readonly facts: readonly (readonly [string, Cell | string])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <CellText cell={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Table({ section }: { readonly section: SectionValue & { readonly type: 'table' } }) {
  const { title, columns, rows, empty } = section
  if (rows.length === 0) return <p class="muted">{empty}</p>
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={columns[column]} class="wrap">
                  <CellText cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const HEALTH: Readonly<Record<string, string>> = { good: 'good', warning: 'progressing', bad: 'bad' }
const SIGNS: Readonly<Record<string, string>> = { good: '●', warning: '◐', bad: '▲' }

function CellText({ cell }: { readonly cell: Cell | string }) {
  if (typeof cell === 'string') return <>{cell}</>
  const { text, tone = 'neutral', detail } = cell
  return (
    <>
      {tone === 'neutral' ? (
        text
      ) : (
        <span class={`badge ${HEALTH[tone]}`}>
          <span class="sign" aria-hidden="true">
            {SIGNS[tone]}
          </span>
          {text}
        </span>
      )}
      {detail !== undefined && <span class="second-line muted">{detail}</span>}
    </>
  )
}
