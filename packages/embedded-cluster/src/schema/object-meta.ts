/** The schema of `metadata`, which is the same for every kind. */
import type { Schema } from './schema.ts'

const string: Schema = { type: 'string' }
const time: Schema = { type: 'string', format: 'date-time' }
const int64: Schema = { type: 'integer', format: 'int64' }
const strings: Schema = { type: 'object', additionalProperties: string }

/**
 * ObjectMeta with its list keys. It applies to custom resources and embedded resources whatever their own schema
 * declares for `metadata`.
 */
export const objectMetaSchema: Schema = {
  type: 'object',
  properties: {
    annotations: strings,
    creationTimestamp: time,
    deletionGracePeriodSeconds: int64,
    deletionTimestamp: time,
    finalizers: {
      type: 'array',
      items: string,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    generateName: string,
    generation: int64,
    labels: strings,
    managedFields: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          apiVersion: string,
          fieldsType: string,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          manager: string,
          operation: string,
          subresource: string,
          time,
        },
      },
    },
    name: string,
    namespace: string,
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'uid',
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: string,
          blockOwnerDeletion: { type: 'boolean' },
          controller: { type: 'boolean' },
          kind: string,
          name: string,
          uid: string,
        },
        required: ['apiVersion', 'kind', 'name', 'uid'],
      },
    },
    resourceVersion: string,
    selfLink: string,
    uid: string,
  },
}
