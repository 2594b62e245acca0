/** The conditions of a status, as `metav1.Condition` defines them. */
import { type TUnsafe, Type } from 'typebox'
import { type FieldOptions, listMap, oneOf } from './fields.ts'

const condition = Type.Object({
  type: Type.String(),
  status: oneOf(['True', 'False', 'Unknown']),
  reason: Type.String(),
  message: Type.Optional(Type.String()),
  observedGeneration: Type.Optional(Type.Integer()),
  lastTransitionTime: Type.String({ format: 'date-time' }),
})

/** One entry of a list of conditions, in the form of the runtime's `setCondition`. */
export interface ConditionEntry {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
  readonly lastTransitionTime: string
}

/**
 * A list of conditions, at most one per type. Operators always write a message, even if it is empty.
 *
 * @example
 * Type.Object({ conditions: Type.Optional(conditions({ description: 'Available and Degraded.' })) })
 */
export function conditions(options: FieldOptions = {}): TUnsafe<readonly ConditionEntry[]> {
  return Type.Unsafe<readonly ConditionEntry[]>(listMap(condition, ['type'], options))
}
