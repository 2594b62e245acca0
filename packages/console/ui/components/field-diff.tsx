/** Changes of fields: path, value before, value after. */
import type { FieldChange } from '../../src/wire.ts'

/** A list of changes. */
export function FieldDiff({
  changes,
  isWhole = false,
}: {
  readonly changes: readonly FieldChange[]
  readonly isWhole?: boolean
}) {
  return (
    <ul class="diff">
      {changes.map((change) => (
        <li key={change.path}>
          <code class="path">{change.path}</code>
          <span class="values">
            {'before' in change && (
              <del>
                <span class="visually-hidden">before: </span>
                {shown(change.before)}
              </del>
            )}
            {'after' in change && (
              <ins class={isWhole ? 'plain' : ''}>
                <span class="visually-hidden">after: </span>
                {shown(change.after)}
              </ins>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** A value on one line, as YAML would have it. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  return JSON.stringify(value)
}
