/** The resource that the operators of the catalogue are about, and what its users do. */
import { conditions, defineCrd, type ObjectOf } from '@reeve/crd'
import type { ObjectKey } from '@reeve/kube'
import { Type } from 'typebox'
import type { Scenario } from '../../src/index.ts'

const v1 = {
  spec: Type.Object({
    text: Type.String({ minLength: 1 }),
    extras: Type.Optional(Type.Record(Type.String(), Type.String())),
    copies: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  status: Type.Object({
    conditions: Type.Optional(conditions()),
    observedGeneration: Type.Optional(Type.Integer()),
    child: Type.Optional(Type.String()),
    at: Type.Optional(Type.String()),
  }),
} as const

export const NoteCrd = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1 },
})
export const Notes = NoteCrd.resource('v1')
export type Note = ObjectOf<typeof v1>

const key: ObjectKey = { namespace: 'default', name: 'shopping' }

const note = (spec: Note['spec']): Note => ({ apiVersion: 'example.com/v1', kind: 'Note', metadata: key, spec })

/** As full as it gets. */
export const FULL: Note['spec'] = { text: 'full', extras: { one: '1', two: '2' }, copies: 2 }

/** A Note is made, edited, deleted and made again. */
export const noteScenario: Scenario = {
  name: 'life of a Note',
  steps: [
    { name: 'create', act: ({ client }) => client.create(Notes, note({ text: 'milk', extras: { size: 'large' } })) },
    {
      name: 'edit',
      act: ({ client }) =>
        client.patch(Notes, key, { type: 'merge', patch: { spec: { text: 'bread', extras: null } } }),
    },
    { name: 'delete', act: ({ client }) => client.delete(Notes, key) },
    { name: 'create again', act: ({ client }) => client.create(Notes, note({ text: 'butter' })) },
  ],
}

/** What a Note becomes. */
export function dataOf({ spec }: Pick<Note, 'spec'>): Record<string, string> {
  return { text: spec.text, copies: String(spec.copies ?? 1), ...spec.extras }
}
