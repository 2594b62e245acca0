/** How DaemonSets and StatefulSets replace their pods. */
import { intOrString } from '@reeve/crd'
import { Type } from 'typebox'
import { group, int32, text } from '../fields/fields.ts'

/** The pace at which a DaemonSet replaces its pods. */
export const daemonSetRollingUpdate = (description: string) =>
  group(
    {
      maxUnavailable: Type.Optional(intOrString({ description: 'Nodes without a ready pod at most: 1 or 10%.' })),
      maxSurge: Type.Optional(intOrString({ description: 'Nodes with an old and a new pod at most: 1 or 10%.' })),
    },
    description,
  )

/** The pace at which a StatefulSet replaces its pods. */
export const statefulSetRollingUpdate = (description: string) =>
  group(
    {
      maxUnavailable: Type.Optional(
        intOrString({
          description: 'Pods that may be unavailable at most: 1 or 10%. Ignored by Kubernetes before 1.35.',
        }),
      ),
      partition: int32('Only pods from this ordinal on are replaced; all when left out.'),
    },
    description,
  )

/** The update strategy of a DaemonSet. */
export const daemonSetUpdateStrategy = (description: string) =>
  group(
    {
      type: text('RollingUpdate replaces pods automatically, OnDelete when each is deleted.'),
      rollingUpdate: daemonSetRollingUpdate('The pace of RollingUpdate.'),
    },
    description,
  )
