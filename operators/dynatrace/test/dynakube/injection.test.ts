/** Namespaces whose pods a DynaKube injects: labelled, filled, and left as they were found. */
import { isNotFound, Namespaces, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DynaKubes } from '../../src/index.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

const INSTANCE = 'dynakube.internal.dynatrace.com/instance'

let stage: Stage
beforeAll(async () => {
  stage = await setStage(['apps', 'rival'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const addNamespace = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
const instanceOf = async (name: string) => (await stage.client.get(Namespaces, { name })).metadata.labels?.[INSTANCE]
const copy = async (namespace: string, name = 'dynatrace-bootstrapper-config') =>
  stage.client.get(Secrets, { namespace, name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
const isFilled = (namespace: string) => async () => (await copy(namespace)) !== undefined

it('labels the namespaces that are selected and puts everything into them', async () => {
  await addNamespace('shop', { team: 'a' })
  await addNamespace('bank', { team: 'b' })
  const namespaceSelector = { matchLabels: { team: 'a' } }
  await stage.create('apps', {
    oneAgent: { applicationMonitoring: { namespaceSelector } },
    metadataEnrichment: { enabled: true, namespaceSelector },
  })
  await stage.until(isFilled('shop'))
  expect(await instanceOf('shop')).toBe('apps')
  expect(await instanceOf('bank')).toBeUndefined()
  const [source, target] = await Promise.all([
    stage.client.get(Secrets, { namespace: NAMESPACE, name: 'apps-bootstrapper-config' }),
    copy('shop'),
  ])
  expect(target?.data).toEqual(source.data)
  expect(target?.metadata.ownerReferences).toBeUndefined()
  expect(target?.metadata.annotations).toHaveProperty(['internal.operator.dynatrace.com/template-hash'])
  expect(Object.keys((await copy('shop', 'dynatrace-bootstrapper-certs'))?.data ?? {})).toEqual(['trusted.pem'])
  await stage.until(async () => {
    return (await stage.condition('apps', 'OneAgentNamespacesMonitored'))?.message === '1 namespaces match: shop'
  })
})

it('the mapping of namespaces notices new namespaces and changed labels', async () => {
  await addNamespace('new', { team: 'a' })
  await stage.until(isFilled('new'))
  const match = { verb: 'delete', resource: 'secrets', name: 'dynatrace-bootstrapper-config' }
  stage.cluster.faults.inject(match, { kind: 'status', code: 409 }, { times: 1 })
  await stage.client.patch(
    Namespaces,
    { name: 'new' },
    { type: 'merge', patch: { metadata: { labels: { team: 'c' } } } },
  )
  await stage.until(async () => (await instanceOf('new')) === undefined)
  // Copied tokens are always cleaned up, whatever failed.
  expect(await copy('new')).toBeUndefined()
  expect(await copy('new', 'dynatrace-bootstrapper-certs')).toBeUndefined()
})

it('the mapping of namespaces restores a copy after a manual change or deletion', async () => {
  const key = { namespace: 'shop', name: 'dynatrace-bootstrapper-config' }
  await stage.client.patch(Secrets, key, { type: 'merge', patch: { data: { 'endpoint.properties': 'eA==' } } })
  await stage.until(async () => {
    await stage.reconcile('apps')
    return (await copy('shop'))?.data?.['endpoint.properties'] !== 'eA=='
  })
  await stage.client.delete(Secrets, key)
  await stage.until(async () => {
    await stage.reconcile('apps')
    return isFilled('shop')()
  })
})

it('the mapping of namespaces costs nothing when nothing changed', async () => {
  await stage.reconcile('apps')
  expect((await stage.reconcile('apps')).writes).toEqual([])
})

it('the mapping of namespaces reports when two DynaKubes select the same namespace, and does not change it', async () => {
  await stage.create('rival', { oneAgent: { applicationMonitoring: {} } })
  await stage.until(async () => (await stage.read('rival')).status?.phase === 'Error')
  expect(await instanceOf('shop')).toBe('apps')
  await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'rival' })
})

it('the mapping of namespaces takes everything back when it is switched off', async () => {
  await stage.edit('apps', { spec: { oneAgent: null, metadataEnrichment: null } })
  await stage.until(async () => (await instanceOf('shop')) === undefined)
  expect(await copy('shop')).toBeUndefined()
  await stage.until(async () => (await stage.condition('apps', 'CodeModulesInjection')) === undefined)
})

it('the mapping of namespaces takes everything back when the DynaKube is deleted', async () => {
  await stage.edit('apps', { spec: { oneAgent: { applicationMonitoring: {} } } })
  await stage.until(isFilled('bank'))
  await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'apps' })
  await stage.until(async () => (await instanceOf('bank')) === undefined)
  expect(await copy('bank')).toBeUndefined()
})
