/** A table of any length: only the rows in view exist. */
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A column. */
export interface Column<T> {
  readonly name: string
  /** Width in the grid of the row, such as `minmax(8rem, 2fr)`. */
  readonly width: string
  /** Left out on narrow screens. */
  readonly isSecondary?: boolean
  readonly class?: string
  render(item: T): ComponentChildren
}

/** Rows above and below the view, so that scrolling shows no gaps. */
const OVERSCAN = 8

/** A list whose rows have one height. Arrow keys move the selection, Enter opens it. */
export function VirtualList<T>(props: {
  readonly label: string
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  readonly columns: readonly Column<T>[]
  readonly rowHeight: number
  readonly selected?: string
  readonly onOpen?: (item: T) => void
  readonly empty: ComponentChildren
}) {
  const { label, items, keyOf, columns, rowHeight, selected, onOpen, empty } = props
  const body = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  const [active, setActive] = useState(-1)
  useLayoutEffect(() => {
    const element = body.current
    if (element === null) return undefined
    const measure = () => setView((before) => viewOf(element, rowHeight, before))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [rowHeight])
  useEffect(() => {
    if (active >= items.length) setActive(items.length - 1)
  }, [items.length])
  const first = Math.max(0, Math.floor(view.top / rowHeight) - OVERSCAN)
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN)
  const pool = Math.ceil(view.height / rowHeight) + 2 * OVERSCAN + 2
  const template = columns.map(({ width }) => width).join(' ')
  const move = (to: number) => {
    const next = Math.min(Math.max(0, to), items.length - 1)
    setActive(next)
    const element = body.current
    if (element === null) return
    if (next * rowHeight < element.scrollTop) element.scrollTop = next * rowHeight
    const bottom = (next + 1) * rowHeight - element.clientHeight
    if (bottom > element.scrollTop) element.scrollTop = bottom
  }
  const open = (index: number) => {
    const item = items[index]
    setActive(index)
    if (item !== undefined) onOpen?.(item)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1)
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: items.length - 1,
    }
    const to = steps[event.key]
    const item = items[active]
    if (to !== undefined) move(to)
    else if (event.key === 'Enter' && item !== undefined && event.target === body.current) onOpen?.(item)
    else return
    event.preventDefault()
  }
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={items.length + 1}>
      <div class="thead" role="rowgroup">
        <div class="tr" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <span key={column.name} role="columnheader" class={columnClass(column)}>
              {column.name}
            </span>
          ))}
        </div>
      </div>
      <div
        class="tbody"
        role="rowgroup"
        ref={body}
        tabIndex={0}
        aria-label={label}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => setView((before) => viewOf(currentTarget, rowHeight, before))}
      >
        {items.length === 0 && <div class="empty">{empty}</div>}
        <div class="spacer" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
          {items.slice(first, last).map((item, offset) => {
            const index = first + offset
            return (
              // Elements are used again for other rows: changing their text is cheaper than making new ones.
              <Row
                key={index % pool}
                item={item}
                index={index}
                columns={columns as readonly Column<unknown>[]} // of the same items
                rowHeight={rowHeight}
                isActive={index === active}
                isSelected={keyOf(item) === selected}
                onClick={open}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

interface View {
  /** A multiple of the height of rows. */
  readonly top: number
  readonly height: number
}

/** What is in view; the same value as before as long as it consists of the same rows. */
function viewOf({ scrollTop, clientHeight: height }: HTMLElement, rowHeight: number, before: View): View {
  const top = Math.floor(scrollTop / rowHeight) * rowHeight
  return top === before.top && height === before.height ? before : { top, height }
}

interface RowProps {
  readonly item: unknown
  readonly index: number
  readonly columns: readonly Column<unknown>[]
  readonly rowHeight: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly onClick: (index: number) => void
}

/** One row. It is left alone while others are scrolled into view. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: Readonly<RowProps>): boolean {
    const { item, index, columns, rowHeight, isActive, isSelected } = this.props
    return !(
      next.item === item &&
      next.index === index &&
      next.columns === columns &&
      next.rowHeight === rowHeight &&
      next.isActive === isActive &&
      next.isSelected === isSelected
    )
  }

  override render() {
    const { item, index, columns, rowHeight, isActive, isSelected } = this.props
    return (
      <div
        role="row"
        aria-rowindex={index + 2}
        aria-current={isSelected ? 'true' : undefined}
        class={`tr ${isActive ? 'active' : ''}`}
        style={{
          gridTemplateColumns: columns.map(({ width }) => width).join(' '),
          height: `${rowHeight}px`,
          transform: `translateY(${index * rowHeight}px)`,
        }}
        onClick={() => this.props.onClick(index)}
      >
        {columns.map((column) => (
          <span key={column.name} role="cell" class={columnClass(column)}>
            {column.render(item)}
          </span>
        ))}
      </div>
    )
  }
}

function columnClass<T>({ isSecondary, class: own = '' }: Column<T>): string {
  return `${own} ${isSecondary ? 'secondary' : ''}`
}
