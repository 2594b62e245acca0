import type { Namespace } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { collectorOf } from './testing/collector.ts'
import { collectorWebhook, WEBHOOK_PATH } from './webhook.ts'

const accepting: Namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'friend', annotations: { 'collector.example.com/allow-from': 'default' } },
}
const rules = { clusters: ['development'], tenancy: { adminNamespaces: ['platform'] } }

async function review(object: object, oldObject?: object) {
  const route = collectorWebhook(rules, async (name) => (name === 'friend' ? accepting : undefined))
  expect(route.path).toBe(WEBHOOK_PATH)
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE'
  const request = { uid: '1', operation, object, oldObject, kind: {}, resource: {}, userInfo: {} }
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
  return JSON.stringify(await route.respond(body, new AbortController().signal))
}

const targeting = (reference: string, namespace = 'default') =>
  collectorOf({ tenant: { reference }, metadata: { name: 'a', namespace } })

it('the webhook for Collectors accepts a valid Collector, rejects others with field and remedy, and never blocks a deletion', async () => {
  expect(await review(targeting('default'))).toContain('"allowed":true')
  const bad = collectorOf({ spec: { cluster: 'nowhere' }, collector: { configuration: '!' } })
  const response = await review(bad)
  expect(response).toContain('"allowed":false')
  expect(response).toContain('spec.cluster')
  expect(response).toContain('spec.collector.configuration')
  const deletionTimestamp = '2030-01-01T00:00:00Z'
  expect(await review({ ...bad, metadata: { ...bad.metadata, deletionTimestamp } })).toContain('"allowed":true')
})

describe('a target', () => {
  it.each([
    ['that accepts the Collector passes', targeting('friend'), true],
    ['that does not is refused', targeting('victim'), false],
    ['that does not passes for an administrator', targeting('victim', 'platform'), true],
    ['of Kubernetes is refused for an administrator, too', targeting('kube-system', 'platform'), false],
  ])('%s', async (_, collector, isAllowed) => {
    expect(await review(collector)).toContain(`"allowed":${isAllowed}`)
  })

  it('is checked again when it changes, and only then', async () => {
    expect(await review(targeting('victim'), targeting('default'))).toContain('collector.example.com/allow-from')
    expect(await review(targeting('victim'), targeting('victim'))).toContain('"allowed":true')
  })
})
