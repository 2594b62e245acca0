import { fileURLToPath } from 'node:url'
import { eventually, SHELL_IMAGE } from '@reeve/real-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apply, exec, get, helm, type Json, kubectl, podReady } from './support/kubectl.ts'
import { imageRepository } from './support/node-images.ts'

const chart = fileURLToPath(new URL('../../../operators/webapp/chart', import.meta.url))
const OPERATOR = 'webapp'
const APPS = 'shops'

beforeAll(async () => {
  const image = `image.repository=${imageRepository('webapp-operator')}`
  await helm('install', 'webapp', chart, '--namespace', OPERATOR, '--create-namespace', '--set', image)
  await kubectl('rollout', 'status', 'deployment/webapp', '--namespace', OPERATOR, '--timeout', '180s')
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

it('serves HTTP through the Service of a WebApp, by all of its replicas', async () => {
  await apply(webApp('shop', { image: `${imageRepository('web-server')}:1`, replicas: 2, port: 8080 }))
  await kubectl('wait', '--for=condition=Ready', 'webapp/shop', '--namespace', APPS, '--timeout', '120s')
  await podReady(APPS, 'customer')
  const replicas = new Set<string>()
  await eventually('both replicas have responded', async () => {
    replicas.add(await exec(APPS, 'customer', 'wget', '-qO-', `http://shop.${APPS}.svc.cluster.local/`))
    return replicas.size === 2
  })
})

it('reports a container that crashes in the status of its WebApp', async () => {
  await apply(webApp('broken', { image: SHELL_IMAGE, replicas: 1, port: 8080 }))
  const broken = await eventually(
    'the WebApp is degraded',
    async () => {
      const object = await get('webapp', APPS, 'broken')
      return condition(object, 'Degraded')?.status === 'True' && object
    },
    { timeoutMs: 180_000 },
  )
  expect(condition(broken, 'Degraded').message).toMatch(/CrashLoopBackOff|exit/)
  expect(condition(broken, 'Ready').status).toBe('False')
})

function webApp(name: string, spec: object): object {
  return { apiVersion: 'example.com/v1', kind: 'WebApp', metadata: { name, namespace: APPS }, spec }
}

function condition(object: Json, type: string): Json {
  return object?.status?.conditions?.find((each: Json) => each.type === type)
}
