/** How do I reject invalid resources? With a validating webhook; `operator.webhookConfigurations` says what to register. */
import { deepStrictEqual } from 'node:assert'
import { allow, deny, validatingWebhook } from '@reeve/runtime'
import { WebhookRouter } from '@reeve/runtime/webhooks'
import { type Note, Notes, note } from './support/note.ts'

const webhook = validatingWebhook<Note>(
  '/validate',
  ({ object }) =>
    object === undefined || object.spec.text.trim() !== ''
      ? allow()
      : deny('spec.text must not be empty', { code: 422, reason: 'Invalid' }),
  { for: Notes },
)

// The router is the server without a socket: tests call it directly.
const router = new WebhookRouter([webhook])
const review = async (text: string) => {
  const request = {
    uid: '1',
    operation: 'CREATE',
    kind: { group: 'example.com', version: 'v1', kind: 'Note' },
    resource: { group: 'example.com', version: 'v1', resource: 'notes' },
    object: note('shopping', text),
  }
  const answer = await router.handle('/validate', {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request,
  })
  return (answer as { readonly response: { readonly allowed: boolean } }).response.allowed
}
deepStrictEqual([await review('milk'), await review(' ')], [true, false])
