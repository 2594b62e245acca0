/** What a plan would change. */
import type { PlanResult } from '../../src/wire.ts'
import { Notice } from './badges.tsx'
import { FieldDiff } from './field-diff.tsx'

const SIGNS: Readonly<Record<string, string>> = { create: '+', change: '~', replace: '±', remove: '−' }

/** A plan, or why there is none. */
export function PlanChanges({ plan }: { readonly plan: PlanResult }) {
  if (plan.problem !== undefined) return <Notice tone="bad">{plan.problem}</Notice>
  return (
    <div class="plan">
      {plan.findings.map(({ severity, message, object }) => (
        <Notice key={`${object}${message}`} tone={severity === 'error' ? 'bad' : 'warning'}>
          {object !== undefined && <strong>{object}: </strong>}
          {message}
        </Notice>
      ))}
      {plan.changes.length === 0 ? (
        <Notice tone="good">
          Nothing would be written{plan.unchanged > 0 ? `: ${plan.unchanged} objects are as they should be` : ''}.
        </Notice>
      ) : (
        <p class="muted">
          {plan.changes.length} {plan.changes.length === 1 ? 'object' : 'objects'} would change, {plan.unchanged} stay
          as they are. Nothing has been applied.
        </p>
      )}
      {plan.changes.map(({ action, kind, namespace, name, fields, manifest }) => (
        <details class="write" key={`${kind}${namespace}${name}`} open={fields.length <= 20}>
          <summary>
            <span class={`verb ${action}`}>
              <span aria-hidden="true">{SIGNS[action]}</span> {action}
            </span>{' '}
            {kind} {namespace === undefined ? '' : `${namespace}/`}
            {name}
          </summary>
          {fields.length > 0 && <FieldDiff changes={fields} />}
          {manifest !== undefined && <pre>{JSON.stringify(manifest, null, 2)}</pre>}
        </details>
      ))}
    </div>
  )
}
