/** EdgeConnect v1alpha2: the stored version, and the one that all other code works on. */
import { Type } from 'typebox'
import { conditions } from '../fields/condition.ts'
import { flag, int32, text, textList } from '../fields/fields.ts'
import { imageRef } from '../fields/image-reference.ts'
import { ABOUT, COLUMNS, DESCRIPTION, specFields, statusFields } from './spec-fields.ts'

/** The version's definition. */
export const v1alpha2 = {
  description: DESCRIPTION,
  storage: true,
  specRequired: false,
  spec: Type.Object(
    {
      ...specFields,
      replicas: int32(ABOUT.replicas),
      autoUpdate: flag(ABOUT.autoUpdate),
      serviceAccountName: text(ABOUT.serviceAccountName),
      hostRestrictions: textList(`${ABOUT.hostRestrictions}.`),
      imageRef: imageRef(ABOUT.imageRef),
    },
    ABOUT.spec,
  ),
  status: Type.Object({ ...statusFields, conditions: conditions() }, ABOUT.status),
  columns: COLUMNS,
} as const
