/** How a DaemonSet replaces its pods. */
import { intOrString } from '@reeve/crd'
import { Type } from 'typebox'
import { group, text } from '../fields/fields.ts'

/** The update strategy of a DaemonSet. */
export const daemonSetUpdateStrategy = (description: string) =>
  group(
    {
      type: text('RollingUpdate replaces pods by itself, OnDelete waits until each is deleted.'),
      rollingUpdate: group(
        {
          maxUnavailable: Type.Optional(intOrString({ description: 'Nodes without a ready pod at most: 1 or 10%.' })),
          maxSurge: Type.Optional(intOrString({ description: 'Nodes with an old and a new pod at most: 1 or 10%.' })),
        },
        'The pace of RollingUpdate.',
      ),
    },
    description,
  )
