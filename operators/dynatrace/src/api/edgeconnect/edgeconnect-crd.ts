/** The CRD `edgeconnects.dynatrace.com` with all its versions. */
import { defineCrd } from '@reeve/crd'
import { Type } from 'typebox'
import { conditions, plainConditions } from '../fields/condition.ts'
import { flag, int32, text, textList } from '../fields/fields.ts'
import { imageRef } from '../fields/image-reference.ts'
import { ABOUT, COLUMNS, DESCRIPTION, specFields, statusFields } from './spec-fields.ts'

/** v1alpha2: the stored version, and the one that all other code works on. */
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

/** v1alpha1: host restrictions are one text, and three fields have defaults. */
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

/** The CRD, the newest version first. */
export const EdgeConnectCrd = defineCrd({
  group: 'dynatrace.com',
  kind: 'EdgeConnect',
  plural: 'edgeconnects',
  shortNames: ['ec', 'ecs'],
  categories: ['dynatrace'],
  scope: 'Namespaced',
  versions: { v1alpha2, v1alpha1 },
})
