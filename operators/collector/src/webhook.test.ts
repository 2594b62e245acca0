import { expect, it } from 'vitest'
import { collectorOf } from './testing/collector.ts'
import { collectorWebhook, WEBHOOK_PATH } from './webhook.ts'

async function review(object: object) {
  const route = collectorWebhook({ clusters: ['development'] })
  expect(route.path).toBe(WEBHOOK_PATH)
  const request = { uid: '1', operation: 'CREATE', object, kind: {}, resource: {}, userInfo: {} }
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
  return JSON.stringify(await route.answer(body, new AbortController().signal))
}

it('lets a sound Collector pass, refuses others with field and remedy, and never holds up a deletion', async () => {
  expect(await review(collectorOf())).toContain('"allowed":true')
  const bad = collectorOf({ spec: { cluster: 'nowhere' }, collector: { configuration: '!' } })
  const answer = await review(bad)
  expect(answer).toContain('"allowed":false')
  expect(answer).toContain('spec.cluster')
  expect(answer).toContain('spec.collector.configuration')
  const deletionTimestamp = '2030-01-01T00:00:00Z'
  expect(await review({ ...bad, metadata: { ...bad.metadata, deletionTimestamp } })).toContain('"allowed":true')
})
