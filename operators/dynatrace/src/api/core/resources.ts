/** CPU, memory and devices of a container. */
import { listMap, quantity } from '@reeve/crd'
import { Type } from 'typebox'
import { group, requiredText, text } from '../fields/fields.ts'

/** Amounts by resource, such as `cpu: 500m`. */
export const quantities = (description: string) =>
  Type.Optional(Type.Record(Type.String(), quantity(), { description }))

/** Requests and limits of a container. */
export const resources = (description: string) =>
  group(
    {
      requests: quantities('What the container is sure to get, such as cpu: 100m. The scheduler counts with it.'),
      limits: quantities('What the container cannot exceed, such as memory: 512Mi.'),
      claims: Type.Optional(
        listMap(
          Type.Object({
            name: requiredText('A resource claim that the pod declares.'),
            request: text('One request of that claim; all of them when left out.'),
          }),
          ['name'],
          { description: 'Devices that the container uses, by the claims of its pod.' },
        ),
      ),
    },
    description,
  )
