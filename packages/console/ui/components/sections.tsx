/** Tables and facts that somebody else described as values. */
import type { BoardAction, CellValue, FactsValue, SectionValue, TableValue } from '../../src/wire.ts'

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
                <td key={columns[column]} class="wrap" data-label={columns[column]}>
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

function CellText({ cell }: { readonly cell: CellValue | string }) {
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
