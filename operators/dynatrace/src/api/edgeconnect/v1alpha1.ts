/** EdgeConnect v1alpha1: host restrictions are one text, and three fields have defaults. */
import { Type } from 'typebox'
import { plainConditions } from '../fields/condition.ts'
import { text } from '../fields/fields.ts'
import { imageRef } from '../fields/image-reference.ts'
import { ABOUT, COLUMNS, DESCRIPTION, specFields, statusFields } from './spec-fields.ts'

/** The version's definition. */
export const v1alpha1 = {
  description: DESCRIPTION,
  storage: false,
  specRequired: false,
  spec: Type.Object(
    {
      ...specFields,
      replicas: Type.Optional(Type.Integer({ format: 'int32', default: 1, description: ABOUT.replicas })),
      autoUpdate: Type.Optional(Type.Boolean({ default: true, description: ABOUT.autoUpdate })),
      serviceAccountName: text(ABOUT.serviceAccountName, { default: 'dynatrace-edgeconnect' }),
      hostRestrictions: text(`${ABOUT.hostRestrictions}, separated by commas.`),
      imageRef: imageRef(ABOUT.imageRef, 'docker.io/dynatrace/edgeconnect'),
    },
    ABOUT.spec,
  ),
  status: Type.Object({ ...statusFields, conditions: plainConditions() }, ABOUT.status),
  columns: COLUMNS,
} as const
