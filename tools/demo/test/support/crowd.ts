/** An operator with any number of resources that it leaves alone, on a cluster in this process. */
import { ConsoleModel } from '@reeve/console'
import { crdManifest } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { CustomResourceDefinitions, createClient } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { WebAppCrd, WebApps } from '@reeve/webapp'

/** An operator that leaves its resources alone. */
export const idleOperator = defineOperator({
  name: 'idle-operator',
  controllers: [{ for: WebApps, concurrency: 10, reconcile: async () => undefined }],
})

/** Starts it, and resolves when it has seen all resources. */
export async function openCrowd(count: number): Promise<AsyncDisposable & { readonly model: ConsoleModel }> {
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  const client = createClient({ transport: cluster.transport })
  await client.create(CustomResourceDefinitions, crdManifest(WebAppCrd))
  await cluster.adopt(
    Array.from({ length: count }, (_, index) => ({
      apiVersion: 'example.com/v1',
      kind: 'WebApp',
      metadata: {
        namespace: 'default',
        name: `one-${String(index).padStart(4, '0')}`,
        uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: { image: 'nginx:1.29', replicas: 1 },
      status: { phase: 'Ready' },
    })),
  )
  const model = new ConsoleModel()
  const { manager, cache } = idleOperator.create({ client, observer: model.observer() })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await cache.waitForSync(AbortSignal.timeout(60_000))
  return {
    model,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await cluster.stop()
    },
  }
}
