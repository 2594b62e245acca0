/** Environment variables of a container, and where their values come from. */
import { quantity } from '@reeve/crd'
import { Type } from 'typebox'
import { atomicGroup, flag, group, list, requiredText, text } from '../fields/fields.ts'

const keyOf = (kind: 'ConfigMap' | 'Secret') =>
  atomicGroup(
    {
      name: text(`The ${kind}.`, { default: '' }),
      key: requiredText('The key in it.'),
      optional: flag('Whether the container starts without it.'),
    },
    `The value of a key of a ${kind} in the same namespace.`,
  )

/** A field of the pod. */
export const fieldRef = () =>
  atomicGroup(
    {
      fieldPath: requiredText('Such as metadata.name, spec.nodeName or status.podIP.'),
      apiVersion: text('The version in which the path is written; v1 when left out.'),
    },
    'A field of the pod.',
  )

/** A request or limit of a container. */
export const resourceFieldRef = () =>
  atomicGroup(
    {
      resource: requiredText('Such as limits.memory.'),
      containerName: text('The container; its own when left out.'),
      divisor: Type.Optional(quantity({ description: 'The unit to count in, such as 1Mi.' })),
    },
    'A request or limit of a container.',
  )

/** Environment variables. */
export const containerEnv = (container: string) =>
  list(
    Type.Object({
      name: requiredText('Name of the variable.'),
      value: text('Its value; $(OTHER) stands for a variable defined earlier.'),
      valueFrom: group(
        {
          configMapKeyRef: keyOf('ConfigMap'),
          secretKeyRef: keyOf('Secret'),
          fieldRef: fieldRef(),
          resourceFieldRef: resourceFieldRef(),
          fileKeyRef: atomicGroup(
            {
              volumeName: requiredText('The volume that has the file.'),
              path: requiredText('The file, from the root of the volume.'),
              key: requiredText('The variable in the file.'),
              optional: flag('Whether the container starts without it.', { default: false }),
            },
            'The value of a variable in a file of a volume.',
          ),
        },
        'Where the value comes from, instead of value. Give exactly one source.',
      ),
    }),
    `Environment variables of ${container}, besides those that the operator sets.`,
  )
