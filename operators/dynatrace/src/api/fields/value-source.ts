/** A value that is given directly or read from a Secret. */
import { group, nullableText } from './fields.ts'

/** An inline value, or a Secret whose `key` has it. */
export const valueSource = (description: string, key: string) =>
  group(
    {
      value: nullableText('The value itself; wins over valueFrom.'),
      valueFrom: nullableText(`Name of a Secret in the same namespace that has it under the key ${key}.`),
    },
    description,
  )
