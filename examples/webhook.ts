/** How do I reject invalid resources? With a validating webhook; `operator.webhookConfigurations` says what to register. */
import { match, strictEqual } from 'node:assert'
import { allow, defineOperator, deny, validatingWebhook } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { type Note, Notes, note, noteManifest } from './support/note.ts'

const operator = defineOperator({
  name: 'strict',
  crds: [noteManifest],
  controllers: [{ for: Notes, render: () => [] }],
  webhooks: [
    validatingWebhook<Note>(
      '/validate',
      ({ object }) =>
        object === undefined || object.spec.text.trim() !== ''
          ? allow()
          : deny('spec.text must not be empty', { code: 422, reason: 'Invalid' }),
      { for: Notes },
    ),
  ],
})

// CRD and webhooks are in force, without a socket.
await using world = await runInMemory(operator)
strictEqual((await world.review(Notes, note('shopping', 'milk'))).rejection, undefined)
match((await world.review(Notes, note('shopping', ' '))).rejection ?? '', /spec.text must not be empty/)
