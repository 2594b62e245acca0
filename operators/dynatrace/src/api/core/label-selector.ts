/** Selecting objects by their labels. */
import { Type } from 'typebox'
import { atomicGroup, atomicList, atomicTextList, requiredText, textMap } from '../fields/fields.ts'

/** One requirement of a selector on labels or fields. */
export const selectorRequirement = (subject: 'label' | 'label or field' | 'field') =>
  Type.Object({
    key: requiredText(`The ${subject} that is compared.`),
    operator: requiredText('How it is compared: In, NotIn, Exists or DoesNotExist; on nodes also Gt and Lt.'),
    values: atomicTextList('What it is compared with; none for Exists and DoesNotExist, one for Gt and Lt.'),
  })

/** A selector on labels; all its parts must match. */
export const labelSelector = (description: string) =>
  atomicGroup(
    {
      matchLabels: textMap('Labels that must be there with exactly these values.'),
      matchExpressions: atomicList(selectorRequirement('label'), 'Conditions on labels; all must hold.'),
    },
    description,
  )
