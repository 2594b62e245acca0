/** The conditions of a status, as `metav1.Condition` defines them. */
import { type TArray, Type } from 'typebox'
import { type FieldOptions, listMap, oneOf } from './fields.ts'

const condition = Type.Object({
  type: Type.String(),
  status: oneOf(['True', 'False', 'Unknown']),
  reason: Type.String(),
  message: Type.Optional(Type.String()),
  observedGeneration: Type.Optional(Type.Integer()),
  lastTransitionTime: Type.String({ format: 'date-time' }),
})

/**
 * A list of conditions, at most one per type.
 *
 * @example
 * Type.Object({ conditions: Type.Optional(conditions({ description: 'Available and Degraded.' })) })
 */
export function conditions(options: FieldOptions = {}): TArray<typeof condition> {
  return listMap(condition, ['type'], options)
}
