import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { sleep } from '@reeve/http'
import { CustomResourceDefinitions, connect, Deployments, type KubeClient } from '@reeve/kube'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWebAppOperator, WebAppCrd, WebApps } from '../src/index.ts'
import { written } from '../src/testing/webapp.ts'

let folder: string
let cluster: EmbeddedCluster
let client: KubeClient

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-restart-'))
  cluster = await startEmbeddedCluster()
  await cluster.writeKubeconfig(join(folder, 'kubeconfig'))
  client = await connect({ kubeconfig: join(folder, 'kubeconfig') })
  await client.create(CustomResourceDefinitions, crdManifest(WebAppCrd))
})
afterEach(async () => {
  await client.close()
  await cluster.stop()
  await rm(folder, { recursive: true, force: true })
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(40_000)
  while (!(await condition())) await sleep(50, { signal: deadline })
}

it('the operator continues where it was when the API server is back', async () => {
  const stop = new AbortController()
  const own = await connect({ kubeconfig: join(folder, 'kubeconfig') })
  const { manager, cache } = createWebAppOperator({ client: own })
  const running = manager.run(stop.signal)
  await client.create(WebApps, written('shop'))
  const phase = async () => (await client.get(WebApps, { namespace: 'default', name: 'shop' })).status?.phase
  await until(async () => (await phase()) === 'Ready')

  await cluster.stopListening()
  // Written directly to the store, as by another client before the watches are open again.
  const webapp = cluster.api.get('webapps.example.com', 'default', 'shop')
  await cluster.api.update('webapps.example.com', { ...webapp, spec: { image: 'nginx:1.29', replicas: 3 } } as never)
  await until(async () => cache.health().informers.some(({ state }) => state !== 'watching'))
  await cluster.listenAgain()

  await until(async () => (await client.get(Deployments, { namespace: 'default', name: 'shop' })).spec?.replicas === 3)
  await until(async () => (await phase()) === 'Ready')
  stop.abort()
  await running
  await own.close()
  expect(cache.health().informers.length).toBe(4)
})
