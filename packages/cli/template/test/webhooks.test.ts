/** What admission accepts and rejects. */
import { deepStrictEqual } from 'node:assert'
import { test } from 'node:test'
import { WebhookRouter } from '@reeve/runtime/webhooks'
import { webhooks } from '../src/webhooks.ts'

async function admits(message: string): Promise<unknown> {
  const object = {
    apiVersion: 'template.example.com/v1',
    kind: 'Sprocket',
    metadata: { name: 'first' },
    spec: { message },
  }
  const kind = { group: 'template.example.com', version: 'v1', kind: 'Sprocket' }
  const resource = { group: 'template.example.com', version: 'v1', resource: 'sprockets' }
  const request = { uid: '1', operation: 'CREATE', kind, resource, name: 'first', namespace: 'default', object }
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
  const { response } = (await new WebhookRouter(webhooks).handle('/validate', review)) as {
    readonly response: { readonly allowed: boolean; readonly status?: { readonly message: string } }
  }
  return response.allowed || response.status?.message
}

test('messages have no white space around them', async () => {
  deepStrictEqual(await admits('hello'), true)
  deepStrictEqual(await admits(' hello'), 'spec.message must not begin or end with white space')
})
