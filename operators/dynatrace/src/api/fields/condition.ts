/** Conditions: what the operator reports about one aspect of a resource. */
import { listMap, oneOf } from '@reeve/crd'
import { Type } from 'typebox'
import { int64, list, requiredText } from './fields.ts'

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const TYPE = `^(${LABEL}(\\.${LABEL})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`

const condition = Type.Object({
  type: requiredText('The aspect, such as Tokens or OneAgentDaemonSet.', { maxLength: 316, pattern: TYPE }),
  status: oneOf(['True', 'False', 'Unknown'], { description: 'Whether it is as expected.' }),
  reason: requiredText('Why, in one word that programs can rely on.', {
    minLength: 1,
    maxLength: 1024,
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
  }),
  message: requiredText('Why, for people; may be empty.', { maxLength: 32_768 }),
  observedGeneration: int64('The generation of the spec that this is about.', { minimum: 0 }),
  lastTransitionTime: requiredText('Since when status has this value.', { format: 'date-time' }),
})

const DESCRIPTION = 'What the operator found, one entry per aspect.'

/** Conditions, at most one per type. */
export const conditions = () => Type.Optional(listMap(condition, ['type'], { description: DESCRIPTION }))

/** Conditions as the older versions have them: a plain list. */
export const plainConditions = () => list(condition, DESCRIPTION)
