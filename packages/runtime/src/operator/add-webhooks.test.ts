import { SimulatedClock } from '@reeve/http/testing'
import { expect, test } from 'vitest'
import { FakeCluster } from '../testing/fake-cluster.ts'
import { allow } from '../webhooks/admission-review.ts'
import { validatingWebhook } from '../webhooks/admission-webhook.ts'
import { addWebhooks, type WebhookOptions } from './add-webhooks.ts'
import { operatorFrame } from './operator-frame.ts'

const NAME = { namespace: 'ops', name: 'greeter' }

/** An operator with a webhook; it does not run. */
function withWebhook(certificate: WebhookOptions['certificate']) {
  const clock = new SimulatedClock()
  const { client } = new FakeCluster({ clock })
  const frame = operatorFrame('greeter', { client, clock })
  const routes = [validatingWebhook('/validate', () => allow())]
  const webhooks = addWebhooks(frame, client, routes, { address: { port: 0 }, certificate })
  const readiness = async () =>
    (await frame.manager.readiness.run()).map(({ name, failure }) => `${name}: ${failure ?? 'ok'}`)
  return { webhooks, readiness }
}

test('an operator that issues its certificate is not ready before it has one', async () => {
  const { webhooks, readiness } = withWebhook({ secret: NAME, hosts: ['localhost'] })
  expect(webhooks.certificates).toBeDefined()
  expect(await readiness()).toContain('certificates: no certificate has been issued yet')
})

test('an operator with a certificate from files issues none', async () => {
  const { webhooks, readiness } = withWebhook({ directory: '/certificates' })
  expect(webhooks.certificates).toBeUndefined()
  expect((await readiness()).join()).not.toContain('certificates')
})
