import {
  CustomResourceDefinitions,
  Deployments,
  Ingresses,
  Pods,
  ReplicaSets,
  type Resource,
  Services,
} from '@reeve/kube'
import { runInMemory, type World } from '@reeve/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Phase, WebAppCrd, WebApps, webAppOperator } from '../src/index.ts'

let world: World
beforeEach(async () => {
  world = await runInMemory(webAppOperator)
})
afterEach(() => world.stop())

const shop = { metadata: { name: 'shop' }, spec: { image: 'nginx:1.29', replicas: 2 } }
const inPhase = (phase: Phase) => world.until(WebApps, 'shop', ({ status }) => status?.phase === phase)
const deployment = () => world.get(Deployments, 'shop')
const imageOf = async () => (await deployment()).spec?.template.spec?.containers[0]?.image

/** A shop whose pods are ready and whose status says so. */
async function openShop(spec = {}): Promise<void> {
  await world.apply(WebApps, { ...shop, spec: { ...shop.spec, ...spec } })
  await world.settle()
  expect((await world.get(WebApps, 'shop')).status?.phase).toBe('Ready')
}

describe('a WebApp', () => {
  it('becomes a Deployment and a Service and is Ready when its replicas are', async () => {
    await openShop({ port: 3000 })
    const { status } = await world.get(WebApps, 'shop')
    expect(status).toMatchObject({ availableReplicas: 2, replicas: 2, observedGeneration: 1 })
    expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`)).toEqual([
      'Ready=True',
      'Available=True',
      'Progressing=False',
      'Degraded=False',
    ])
    expect((await world.get(Services, 'shop')).spec?.ports).toMatchObject([{ port: 80, targetPort: 'http' }])
    expect((await deployment()).metadata.ownerReferences).toMatchObject([
      { kind: 'WebApp', name: 'shop', controller: true },
    ])
  })

  it('goes through the phases Created, Reconciling, WaitingForPods and Ready', async () => {
    const seen: string[] = []
    const ending = new AbortController()
    const watching = (async () => {
      for await (const event of world.client.watch(WebApps, { namespace: 'default', signal: ending.signal })) {
        const phase = event.type === 'BOOKMARK' ? undefined : event.object.status?.phase
        if (phase !== undefined && seen.at(-1) !== phase) seen.push(phase)
      }
    })().catch(() => undefined)
    await openShop()
    ending.abort()
    await watching
    expect(seen).toEqual(['Created', 'Reconciling', 'WaitingForPods', 'Ready'])
  })

  it('is reconciled every 30 seconds while nothing happens, without a request', async () => {
    await openShop()
    const before = world.reconciles.length
    const { reads } = world.cluster.requests
    expect(await world.writesDuring('30m')).toBe(0)
    expect(world.cluster.requests.reads).toBe(reads)
    const since = world.reconciles.slice(before)
    expect(since).toHaveLength(60)
    expect(since.flatMap(({ writes }) => writes)).toEqual([])
  })

  it('scales when the number of replicas changes, also through the scale subresource', async () => {
    await openShop()
    const path = '/apis/example.com/v1/namespaces/default/webapps/shop/scale'
    const scale = await world.client.raw<{ status: { selector: string } }>({ method: 'GET', path })
    expect(scale.status.selector).toBe('app.kubernetes.io/name=webapp,app.kubernetes.io/instance=shop')
    await world.client.raw({
      method: 'PATCH',
      path,
      body: { spec: { replicas: 5 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await inPhase('Scaling')
    expect((await inPhase('Ready')).status?.availableReplicas).toBe(5)
  })

  it('rolls a new image out without losing the service', async () => {
    await openShop()
    await world.patch(WebApps, 'shop', { spec: { image: 'nginx:1.30' } })
    await inPhase('Reconciling')
    const { status } = await inPhase('Ready')
    expect(status?.observedGeneration).toBe(2)
    expect(await imageOf()).toBe('nginx:1.30')
    await world.settle()
    const images = (await world.list(Pods)).map(({ spec }) => spec?.containers[0]?.image)
    expect(images).toEqual(['nginx:1.30', 'nginx:1.30'])
  })

  it('reverts manual changes and keeps fields that it never set', async () => {
    await openShop()
    await world.client.patch(
      Deployments,
      { namespace: 'default', name: 'shop' },
      {
        type: 'strategic',
        patch: {
          metadata: { annotations: { team: 'blue' } },
          spec: { replicas: 7, template: { spec: { containers: [{ name: 'web', image: 'evil:1' }] } } },
        },
      },
    )
    await world.settle()
    expect(await imageOf()).toBe('nginx:1.29')
    expect(await deployment()).toMatchObject({ metadata: { annotations: { team: 'blue' } }, spec: { replicas: 2 } })
    await inPhase('Ready')
  })

  it('recreates deleted objects', async () => {
    await openShop()
    const before = (await deployment()).metadata.uid
    await world.delete(Deployments, 'shop')
    await world.delete(Services, 'shop')
    await world.until(Deployments, 'shop', ({ metadata }) => metadata.uid !== before)
    await world.until(Services, 'shop', () => true)
    await inPhase('Ready')
  })

  it('gets an Ingress with its host, and loses it with it', async () => {
    await openShop({ ingress: { host: 'shop.example.com', tlsSecretName: 'shop-tls' } })
    expect((await world.get(Ingresses, 'shop')).spec).toMatchObject({
      tls: [{ hosts: ['shop.example.com'], secretName: 'shop-tls' }],
      rules: [{ host: 'shop.example.com' }],
    })
    await world.apply(WebApps, shop)
    await world.settle()
    expect(await world.find(Ingresses, 'shop')).toBeUndefined()
  })

  it('takes everything with it when it is deleted', async () => {
    await openShop()
    await world.delete(WebApps, 'shop')
    await world.settle()
    const kinds: readonly Resource[] = [WebApps, Deployments, ReplicaSets, Pods, Services]
    const left = await Promise.all(kinds.map((kind) => world.list(kind)))
    expect(left.flat().map(({ metadata }) => metadata.name)).toEqual(['kubernetes'])
  })

  it('shows Deleting while a finalizer blocks it', async () => {
    await world.apply(WebApps, { ...shop, metadata: { name: 'shop', finalizers: ['example.com/wait'] } })
    await inPhase('Ready')
    await world.delete(WebApps, 'shop')
    await inPhase('Deleting')
  })

  it('shows Deleting while a foreground deletion waits for its Deployment', async () => {
    await openShop()
    await world.client.delete(WebApps, { namespace: 'default', name: 'shop' }, { propagationPolicy: 'Foreground' })
    await inPhase('Deleting')
  })

  it('is Degraded with the reason when a roll-out does not progress, and Ready again when it is undone', async () => {
    await openShop()
    await world.patch(WebApps, 'shop', { spec: { image: 'does-not-exist:1' } })
    const { status } = await inPhase('Degraded')
    expect(status?.conditions?.find(({ type }) => type === 'Degraded')?.message).toMatch(/does not progress/)
    expect(status?.conditions?.find(({ type }) => type === 'Available')?.status).toBe('True')
    await world.patch(WebApps, 'shop', { spec: { image: 'nginx:1.29' } })
    await inPhase('Ready')
  })

  it('is rejected or warned about by its webhooks', async () => {
    const review = (image: string) => world.review(WebApps, { ...shop, spec: { image } })
    expect((await review('no-tag')).rejection).toContain('spec.image')
    expect((await review('nginx:latest')).warnings).toEqual([expect.stringContaining('spec.image: the tag "latest"')])
    expect((await review('nginx:1.29')).object?.spec).toMatchObject({ replicas: 1, port: 8080 })
  })
})

describe('a WebApp without spec, stored before the schema required one', () => {
  it('gets a status that names what is missing', async () => {
    const path = '/spec/versions/0/schema/openAPIV3Schema/required'
    const patch = [{ op: 'remove', path } as const]
    await world.client.patch(CustomResourceDefinitions, { name: WebAppCrd.name }, { type: 'json', patch })
    const metadata = { name: 'shop', namespace: 'default', uid: 'uid-shop', generation: 1 }
    await world.cluster.adopt([{ apiVersion: 'example.com/v1', kind: 'WebApp', metadata }])
    const { status } = await inPhase('Degraded')
    expect(status?.conditions?.find(({ type }) => type === 'Degraded')).toMatchObject({
      reason: 'InvalidSpec',
      message: 'spec: is required',
    })
  })
})
