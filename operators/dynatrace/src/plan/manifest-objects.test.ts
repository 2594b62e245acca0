import { ConfigMaps, type KubeObject, Secrets, systemClock } from '@reeve/kube'
import { LAST_APPLIED, type ScratchCluster } from '@reeve/plan'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { decodeSecret } from '../controllers/rendering/secret-data.ts'
import { isOfInterest, putManifests } from './manifest-objects.ts'
import { startScratchCluster } from './planned-kinds.ts'

const signal = AbortSignal.timeout(60_000)
const key = { namespace: 'default', name: 'settings' }

let scratch: ScratchCluster
beforeAll(async () => {
  scratch = await startScratchCluster(systemClock, false)
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const configMap = (metadata: object, data: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, ...metadata }, data }) as KubeObject // with data

it('creates what is not there', async () => {
  await putManifests(scratch, [configMap({}, { colour: 'blue' })], { signal })
  expect(scratch.view.get(ConfigMaps, key)?.data).toEqual({ colour: 'blue' })
})

it('replaces the content, and keeps labels and annotations that the file never had', async () => {
  const applied = JSON.stringify({ metadata: { labels: { former: 'yes' } } })
  const labels = { former: 'yes', others: 'yes' }
  const annotations = { [LAST_APPLIED]: applied, 'example.com/tracked': 'yes' }
  await scratch.adopt([configMap({ labels, annotations }, { colour: 'blue', size: 'large' })])
  await putManifests(scratch, [configMap({ labels: { current: 'yes' } }, { colour: 'green' })], { signal })
  const found = scratch.view.get(ConfigMaps, key)
  expect(found?.data).toEqual({ colour: 'green' })
  expect(found?.metadata.labels).toEqual({ others: 'yes', current: 'yes' })
  expect(found?.metadata.annotations?.['example.com/tracked']).toBe('yes')
})

it('takes Secrets in clear', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key, stringData: { apiToken: 'dt0c01' } }
  await putManifests(scratch, [secret], { signal })
  expect(decodeSecret(scratch.view.get(Secrets, key)?.data)).toEqual({ apiToken: 'dt0c01' })
})

it('takes notice of kinds that the operator looks at', () => {
  const object = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: {} })
  expect(isOfInterest(object('dynatrace.com/v1beta4', 'DynaKube'))).toBe(true)
  expect(isOfInterest(object('v1', 'Namespace'))).toBe(true)
  expect(isOfInterest(object('example.com/v1', 'Secret'))).toBe(false)
  expect(isOfInterest(object('v1', 'ServiceAccount'))).toBe(false)
})
