/** The Sprocket resource, defined once: its type, its schema, its CRD and its typed client follow. */
import { conditions, defineCrd, type ObjectOf } from '@reeve/crd'
import { Type } from 'typebox'

const v1 = {
  spec: Type.Object({
    message: Type.String({ minLength: 1, maxLength: 1024, description: 'What to publish.' }),
    isPublic: Type.Boolean({ default: true, description: 'Whether the message is published.' }),
  }),
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(conditions()),
  }),
  columns: [{ name: 'Message', type: 'string', jsonPath: '.spec.message' }],
} as const

export const SprocketCrd = defineCrd({
  group: 'template.example.com',
  kind: 'Sprocket',
  plural: 'sprockets',
  scope: 'Namespaced',
  versions: { v1 },
})

/** For clients, informers and controllers. */
export const SprocketResource = SprocketCrd.resource('v1')
export type Sprocket = ObjectOf<typeof v1>
