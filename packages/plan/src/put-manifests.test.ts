import { systemClock } from '@reeve/http'
import { ConfigMaps, type KubeObject, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LAST_APPLIED } from './apply-manifest.ts'
import { putManifests } from './put-manifests.ts'
import { ScratchCluster } from './scratch-cluster.ts'

const kinds = [ConfigMaps, Secrets]
const signal = AbortSignal.timeout(60_000)
const key = { namespace: 'default', name: 'settings' }

let scratch: ScratchCluster
beforeAll(async () => {
  scratch = await ScratchCluster.start({ clock: systemClock, fieldManager: 'notes', kinds, crds: [] })
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const configMap = (metadata: object, data: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, ...metadata }, data }) as KubeObject // with data

it('a manifest of a missing object creates it', async () => {
  await putManifests(scratch, [configMap({}, { colour: 'blue' })], { kinds, signal })
  expect(scratch.view.get(ConfigMaps, key)?.data).toEqual({ colour: 'blue' })
})

it('a manifest is applied as kubectl does: what the file never had is kept, what it had is removed', async () => {
  const applied = JSON.stringify({ metadata: { labels: { former: 'yes' } }, data: { colour: 'red', size: 'small' } })
  const labels = { former: 'yes', others: 'yes' }
  const annotations = { [LAST_APPLIED]: applied, 'example.com/tracked': 'yes' }
  await scratch.adopt([configMap({ labels, annotations }, { colour: 'blue', size: 'large', injected: 'yes' })])
  await putManifests(scratch, [configMap({ labels: { current: 'yes' } }, { colour: 'green' })], { kinds, signal })
  const found = scratch.view.get(ConfigMaps, key)
  expect(found?.data).toEqual({ colour: 'green', injected: 'yes' })
  expect(found?.metadata.labels).toEqual({ others: 'yes', current: 'yes' })
  expect(found?.metadata.annotations?.['example.com/tracked']).toBe('yes')
})

it('a manifest may have Secrets in clear', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key, stringData: { apiToken: 'hunter2' } }
  await putManifests(scratch, [secret], { kinds, signal })
  expect(scratch.view.get(Secrets, key)?.data).toEqual({ apiToken: btoa('hunter2') })
})

it('a manifest replaces the content if asked to, but not the labels of others', async () => {
  await scratch.adopt([configMap({ labels: { others: 'yes' } }, { colour: 'blue', size: 'large' })])
  await putManifests(scratch, [configMap({}, { colour: 'green' })], { kinds, signal, replaces: true })
  const found = scratch.view.get(ConfigMaps, key)
  expect(found?.data).toEqual({ colour: 'green' })
  expect(found?.metadata.labels).toEqual({ others: 'yes' })
})
