/** Events about what a reconcile changed. */
import type { Occurrence } from '@reeve/runtime'
import type { Change } from '@reeve/runtime/engine'

/** How many objects a message names. */
const SHOWN = 10

/** What a reconcile did. */
export interface Changed {
  /** `status.phase` before the reconcile; absent for a new resource. */
  readonly before: string | undefined
  readonly after: string | undefined
  readonly changes: readonly Change[]
}

/**
 * One event about a new phase and the objects that were written; none for an unchanged resource. The recorder counts
 * repetitions instead of adding events. Failures have an event of the controller, so that the phase `Error` needs none.
 *
 * @example
 * return { events: changeEvents({ before: 'Deploying', after: 'Running', changes }) }
 */
export function changeEvents({ before, after, changes }: Changed): readonly Occurrence[] {
  const isNewPhase = after !== undefined && after !== before && after !== 'Error'
  const phase = isNewPhase ? `${before === undefined ? '' : `${before} → `}${after}` : ''
  const message = [phase, writtenObjects(changes)].filter((part) => part !== '').join(': ')
  return message === '' ? [] : [{ type: 'Normal', reason: isNewPhase ? after : 'Applied', message }]
}

/** Such as `created Secret a, updated DaemonSet b`. */
function writtenObjects(changes: readonly Change[]): string {
  const names = changes.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`)
  const more = names.length - SHOWN
  return `${names.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
