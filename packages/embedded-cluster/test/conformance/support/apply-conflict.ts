/** The error of an apply that conflicts with other managers. */
import type { Json } from './conformance-api.ts'
import { failure } from './status.ts'

/**
 * The expected error. Each conflict consists of the owner, as in the message, and the field.
 *
 * @example
 * applyConflict(['"alice"', '.data.a'], ['"bob" using v1', '.data.b'])
 */
export function applyConflict(...conflicts: readonly (readonly [string, string])[]): Json {
  const [[owner, field] = ['', '']] = conflicts
  const owners = [...new Set(conflicts.map(([who]) => who))]
  const fieldsOf = (wanted: string) => conflicts.filter(([who]) => who === wanted).map(([, what]) => what)
  const summary =
    conflicts.length === 1
      ? `1 conflict: conflict with ${owner}: ${field}`
      : `${conflicts.length} conflicts: ${owners.map((who) => `conflicts with ${who}:\n- ${fieldsOf(who).join('\n- ')}`).join('\n')}`
  return failure({
    code: 409,
    reason: 'Conflict',
    message: `Apply failed with ${summary}`,
    details: {
      causes: conflicts.map(([who, what]) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${who}`,
        field: what,
      })),
    },
  })
}
