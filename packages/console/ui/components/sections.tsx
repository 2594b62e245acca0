/** Tables and facts that somebody else described as values. */
import type { BoardAction, CellValue, FactsValue, SectionValue, TableValue } from '../../src/wire.ts'
import { timeOfDay } from '../state/clock.ts'
import { useIsNarrow } from '../state/viewport.ts'

/** What stands under the heading of a section. */
export function SectionContent({ section }: { readonly section: SectionValue }) {
  return section.type === 'facts' ? <Facts facts={section.facts} /> : <ValueTable table={section} />
}

function Facts({ facts }: Pick<FactsValue, 'facts'>) {
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

/**
 * A table, with a button in each row if there are actions. On a narrow screen each row becomes a list of its cells, named by
 * their columns.
 */
export function ValueTable(props: {
  readonly table: TableValue
  readonly rowActions?: readonly BoardAction[]
  readonly onAction?: (action: BoardAction) => void
}) {
  const { table, rowActions, onAction } = props
  const { title, columns, rows, empty } = table
  const isNarrow = useIsNarrow()
  if (rows.length === 0) return <p class="muted">{empty}</p>
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
      <table class="values">
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
            {rowActions !== undefined && (
              <th scope="col">
                <span class="visually-hidden">Action</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={columns[column]} class="wrap" data-label={columns[column]} hidden={isEmpty(cell) && isNarrow}>
                  <span>
                    <CellText cell={cell} />
                  </span>
                </td>
              ))}
              <RowAction action={rowActions?.[index]} onAction={onAction} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** An empty cell keeps its column; in a list of cells it would only be a name without a value. */
function isEmpty(cell: CellValue | string): boolean {
  return cell === '' || (typeof cell === 'object' && cell.text === '' && cell.detail === undefined)
}

function RowAction(props: {
  readonly action: BoardAction | undefined
  readonly onAction: ((action: BoardAction) => void) | undefined
}) {
  const { action, onAction } = props
  if (action === undefined) return null
  return (
    <td class="number">
      <button type="button" onClick={() => onAction?.(action)}>
        {action.label}
      </button>
    </td>
  )
}

const HEALTH: Readonly<Record<string, string>> = { good: 'good', warning: 'progressing', bad: 'bad' }
const SIGNS: Readonly<Record<string, string>> = { good: '●', warning: '◐', bad: '▲' }

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Points in time as people say them, in their own time zone. */
function Text({ text }: { readonly text: string }) {
  if (!TIMESTAMP.test(text)) return <>{text}</>
  const date = new Date(text)
  const isToday = date.toDateString() === new Date().toDateString()
  return (
    <time dateTime={text} title={text}>
      {isToday ? timeOfDay(date.getTime()) : date.toLocaleString()}
    </time>
  )
}

function CellText({ cell }: { readonly cell: CellValue | string }) {
  if (typeof cell === 'string') return <Text text={cell} />
  const { text, tone = 'neutral', detail } = cell
  return (
    <>
      {tone === 'neutral' ? (
        <Text text={text} />
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
