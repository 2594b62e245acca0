/** A resource for the examples that are about something else. */
import { crdManifest, defineCrd, type ObjectOf } from '@reeve/crd'
import { Type } from 'typebox'

const v1 = { spec: Type.Object({ text: Type.String() }) }

const NoteCrd = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1 },
})

export const Notes = NoteCrd.resource('v1')
export type Note = ObjectOf<typeof v1>
export const noteManifest = crdManifest(NoteCrd)
export { NoteCrd }

/** A note in the namespace `default`. */
export const note = (name: string, text: string) => ({
  apiVersion: 'example.com/v1' as const,
  kind: 'Note' as const,
  metadata: { namespace: 'default', name },
  spec: { text },
})
