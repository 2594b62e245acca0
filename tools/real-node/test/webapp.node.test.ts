import { fileURLToPath } from 'node:url'
import { eventually, SHELL_IMAGE } from '@reeve/real-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { condition } from './support/conditions.ts'
import { recordMemory } from './support/figures.ts'
import { apply, exec, get, helm, kubectl, list, podReady } from './support/kubectl.ts'
import { imageRepository } from './support/node-images.ts'

const chart = fileURLToPath(new URL('../../../operators/webapp/chart', import.meta.url))
const OPERATOR = 'webapp'
const APPS = 'shops'

beforeAll(async () => {
  const image = `image.repository=${imageRepository('webapp-operator')}`
  await helm('install', 'webapp', chart, '--namespace', OPERATOR, '--create-namespace', '--set', image)
  await kubectl('rollout', 'status', 'deployment/webapp', '--namespace', OPERATOR, '--timeout', '280s')
  await kubectl('create', 'namespace', APPS)
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'customer', namespace: APPS },
    spec: {
      containers: [{ name: 'shell', image: SHELL_IMAGE, command: ['sleep', '100000'] }],
      terminationGracePeriodSeconds: 1,
    },
  })
})
afterAll(async () => {
  await kubectl('delete', 'webapps', '--all', '--namespace', APPS)
  await helm('uninstall', 'webapp', '--namespace', OPERATOR, '--wait')
  await kubectl('delete', 'namespace', APPS, OPERATOR)
})

it('a WebApp serves HTTP through its Service, by all of its replicas', async () => {
  await apply(webApp('shop', { image: `${imageRepository('web-server')}:1`, replicas: 2, port: 8080 }))
  await kubectl('wait', '--for=condition=Ready', 'webapp/shop', '--namespace', APPS, '--timeout', '280s')
  await podReady(APPS, 'customer')
  const replicas = new Set<string>()
  await eventually('both replicas have responded', async () => {
    replicas.add(await exec(APPS, 'customer', 'wget', '-qO-', `http://shop.${APPS}.svc.cluster.local/`))
    return replicas.size === 2
  })
})

it('the status of a WebApp reports that its containers crash', async () => {
  await apply(webApp('fragile', { image: `${imageRepository('web-server')}:1`, replicas: 1, port: 8080 }))
  await kubectl('wait', '--for=condition=Ready', 'webapp/fragile', '--namespace', APPS, '--timeout', '280s')
  const degraded = await eventually('the WebApp is degraded', async () => {
    // The kubelet waits longer after each crash. There is nothing to ask while no replica is available.
    await exec(APPS, 'customer', 'wget', '-qO-', `http://fragile.${APPS}.svc.cluster.local/crash`).catch(() => '')
    const object = await get('webapp', APPS, 'fragile')
    return condition(object, 'Degraded')?.status === 'True' && object
  })
  expect(degraded.status.phase).toBe('Degraded')
  expect(condition(degraded, 'Degraded')).toMatchObject({
    reason: 'ReplicasUnavailable',
    message: '0 of 1 replica available: replicas that were available no longer are',
  })
  await eventually('it is ready when the container has started again', async () => {
    return condition(await get('webapp', APPS, 'fragile'), 'Ready')?.status === 'True'
  })
})

it('a WebApp whose image crashes from the start is not called ready', async () => {
  await apply(webApp('broken', { image: SHELL_IMAGE, replicas: 1, port: 8080 }))
  await eventually('the container has crashed repeatedly', async () => {
    const [pod] = await list('pods', APPS, '--selector', 'app.kubernetes.io/instance=broken')
    return pod?.status.containerStatuses?.[0].restartCount > 1
  })
  await eventually('the WebApp waits for its pods', async () => {
    const ready = condition(await get('webapp', APPS, 'broken'), 'Ready')
    return ready?.status === 'False' && ready.message.startsWith('0 of 1 replica available')
  })
})

it('the WebApp operator stays within its memory limits', async () => {
  expect(await recordMemory(OPERATOR)).toEqual([])
})

function webApp(name: string, spec: object): object {
  return { apiVersion: 'example.com/v1', kind: 'WebApp', metadata: { name, namespace: APPS }, spec }
}
