/** Admission: what the schema cannot say about a Sprocket. */
import { allow, deny, validatingWebhook } from '@reeve/runtime'
import { type Sprocket, SprocketResource } from './sprocket.ts'

export const webhooks = [
  validatingWebhook<Sprocket>(
    '/validate',
    ({ object }) => {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return allow()
      return object.spec.message === object.spec.message.trim()
        ? allow()
        : deny('spec.message must not begin or end with white space', { code: 422, reason: 'Invalid' })
    },
    { for: SprocketResource },
  ),
]
