import {
  CustomResourceDefinitions,
  Deployments,
  Ingresses,
  isNotFound,
  Pods,
  ReplicaSets,
  type Resource,
  Services,
} from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebAppCrd, WebApps } from '../src/index.ts'
import { keyOf, type Stage, setStage, written } from './support/stage.ts'

let stage: Stage
let records: ReconcileRecord[]
beforeEach(async () => {
  stage = await setStage()
  records = []
  stage.startOperator({ onReconcile: (record) => records.push(record) })
})
afterEach(() => stage.close())

const deployment = () => stage.client.get(Deployments, keyOf('shop'))
const imageOf = async () => (await deployment()).spec?.template.spec?.containers[0]?.image

describe('a WebApp', () => {
  it('becomes a Deployment and a Service and is Ready when its replicas are', async () => {
    await stage.client.create(WebApps, written('shop', { port: 3000 }))
    const { status } = await stage.untilPhase('shop', 'Ready')
    expect(status).toMatchObject({ availableReplicas: 2, replicas: 2, observedGeneration: 1 })
    expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`)).toEqual([
      'Ready=True',
      'Available=True',
      'Progressing=False',
      'Degraded=False',
    ])
    expect((await stage.client.get(Services, keyOf('shop'))).spec?.ports).toMatchObject([
      { port: 80, targetPort: 'http' },
    ])
    expect((await deployment()).metadata.ownerReferences).toMatchObject([
      { kind: 'WebApp', name: 'shop', controller: true },
    ])
  })

  it('goes through the phases Created, Reconciling, WaitingForPods and Ready', async () => {
    const seen: string[] = []
    const ending = new AbortController()
    const watching = (async () => {
      for await (const event of stage.client.watch(WebApps, { namespace: 'default', signal: ending.signal })) {
        const phase = event.type === 'BOOKMARK' ? undefined : event.object.status?.phase
        if (phase !== undefined && seen.at(-1) !== phase) seen.push(phase)
      }
    })().catch(() => undefined)
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    await stage.until(() => seen.at(-1) === 'Ready')
    ending.abort()
    await watching
    expect(seen).toEqual(['Created', 'Reconciling', 'WaitingForPods', 'Ready'])
  })

  it('is reconciled every 30 seconds while nothing happens, without a request', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    // Events about pods that became ready may still arrive.
    await stage.clock.advance(60_000)
    const before = records.length
    await stage.clock.advance(5 * 60_000)
    const since = records.slice(before)
    expect(since).toHaveLength(10)
    expect(since.flatMap(({ writes }) => writes)).toEqual([])
  })

  it('scales when the number of replicas changes, also through the scale subresource', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    const path = '/apis/example.com/v1/namespaces/default/webapps/shop/scale'
    const scale = await stage.client.raw<{ status: { selector: string } }>({ method: 'GET', path })
    expect(scale.status.selector).toBe('app.kubernetes.io/name=webapp,app.kubernetes.io/instance=shop')
    await stage.client.raw({
      method: 'PATCH',
      path,
      body: { spec: { replicas: 5 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await stage.untilPhase('shop', 'Scaling')
    expect((await stage.untilPhase('shop', 'Ready')).status?.availableReplicas).toBe(5)
  })

  it('rolls a new image out without losing the service', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    await stage.client.patch(WebApps, keyOf('shop'), { type: 'merge', patch: { spec: { image: 'nginx:1.30' } } })
    await stage.untilPhase('shop', 'Reconciling')
    const { status } = await stage.untilPhase('shop', 'Ready')
    expect(status?.observedGeneration).toBe(2)
    expect(await imageOf()).toBe('nginx:1.30')
    const imagesOfPods = async () =>
      (await stage.client.listAll(Pods, { namespace: 'default' })).items.map(({ spec }) => spec?.containers[0]?.image)
    await stage.until(async () => !(await imagesOfPods()).includes('nginx:1.29'))
    expect(await imagesOfPods()).toEqual(['nginx:1.30', 'nginx:1.30'])
  })

  it('reverts manual changes and keeps fields that it never set', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    await stage.client.patch(Deployments, keyOf('shop'), {
      type: 'strategic',
      patch: {
        metadata: { annotations: { team: 'blue' } },
        spec: { replicas: 7, template: { spec: { containers: [{ name: 'web', image: 'evil:1' }] } } },
      },
    })
    await stage.until(async () => (await imageOf()) === 'nginx:1.29' && (await deployment()).spec?.replicas === 2)
    expect((await deployment()).metadata.annotations?.team).toBe('blue')
    await stage.untilPhase('shop', 'Ready')
  })

  it('recreates deleted objects', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    const before = (await deployment()).metadata.uid
    await stage.client.delete(Deployments, keyOf('shop'))
    await stage.client.delete(Services, keyOf('shop'))
    const exists = async () => {
      try {
        return (
          (await deployment()).metadata.uid !== before &&
          (await stage.client.get(Services, keyOf('shop'))) !== undefined
        )
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    }
    await stage.until(exists)
    await stage.untilPhase('shop', 'Ready')
  })

  it('gets an Ingress with its host, and loses it with it', async () => {
    await stage.client.create(
      WebApps,
      written('shop', { ingress: { host: 'shop.example.com', tlsSecretName: 'shop-tls' } }),
    )
    await stage.untilPhase('shop', 'Ready')
    expect((await stage.client.get(Ingresses, keyOf('shop'))).spec).toMatchObject({
      tls: [{ hosts: ['shop.example.com'], secretName: 'shop-tls' }],
      rules: [{ host: 'shop.example.com' }],
    })
    await stage.client.patch(WebApps, keyOf('shop'), { type: 'merge', patch: { spec: { ingress: null } } })
    await stage.until(async () => (await stage.client.listAll(Ingresses)).items.length === 0)
  })

  it('takes everything with it when it is deleted', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    await stage.client.delete(WebApps, keyOf('shop'))
    const left = async () => {
      const kinds: readonly Resource[] = [WebApps, Deployments, ReplicaSets, Pods, Services]
      const lists = await Promise.all(kinds.map((kind) => stage.client.listAll(kind, { namespace: 'default' })))
      return lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.name !== 'kubernetes').length
    }
    await stage.until(async () => (await left()) === 0)
  })

  it('shows Deleting while a finalizer blocks it', async () => {
    await stage.client.create(WebApps, written('shop', {}, { finalizers: ['example.com/wait'] }))
    await stage.untilPhase('shop', 'Ready')
    await stage.client.delete(WebApps, keyOf('shop'))
    await stage.untilPhase('shop', 'Deleting')
  })

  it('shows Deleting while a foreground deletion waits for its Deployment', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    await stage.client.delete(WebApps, keyOf('shop'), { propagationPolicy: 'Foreground' })
    await stage.untilPhase('shop', 'Deleting')
  })

  it('is Degraded with the reason when a roll-out does not progress, and Ready again when it is undone', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    const setImage = (image: string) =>
      stage.client.patch(WebApps, keyOf('shop'), { type: 'merge', patch: { spec: { image } } })
    await setImage('does-not-exist:1')
    const { status } = await stage.untilPhase('shop', 'Degraded')
    expect(status?.conditions?.find(({ type }) => type === 'Degraded')?.message).toMatch(/does not progress/)
    expect(status?.conditions?.find(({ type }) => type === 'Available')?.status).toBe('True')
    await setImage('nginx:1.29')
    await stage.untilPhase('shop', 'Ready')
  })

  it('is reconciled every 30 seconds and after events, without requests', async () => {
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    await stage.clock.advance(60_000)
    const writes = stage.cluster.requests.writes
    const reads = stage.cluster.requests.reads
    await stage.clock.advance(30 * 60_000)
    expect(stage.cluster.requests.writes).toBe(writes)
    expect(stage.cluster.requests.reads).toBe(reads)
  })
})

describe('a WebApp without spec, stored before the schema required one', () => {
  it('gets a status that names what is missing', async () => {
    const path = '/spec/versions/0/schema/openAPIV3Schema/required'
    const patch = [{ op: 'remove', path } as const]
    await stage.client.patch(CustomResourceDefinitions, { name: WebAppCrd.name }, { type: 'json', patch })
    await stage.client.raw({
      method: 'POST',
      path: '/apis/example.com/v1/namespaces/default/webapps',
      body: { apiVersion: 'example.com/v1', kind: 'WebApp', metadata: { name: 'shop' } },
    })
    const { status } = await stage.untilPhase('shop', 'Degraded')
    expect(status?.conditions?.find(({ type }) => type === 'Degraded')).toMatchObject({
      reason: 'InvalidSpec',
      message: 'spec: is required',
    })
  })
})
