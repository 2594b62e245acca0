/** WebApps in numbers, for the benchmarks of their operator. */
import type { KubeClient, Stored } from '@reeve/kube'
import { type WebApp, WebApps } from '@reeve/webapp'

/** Reconciles, or bare writes, at the same time. */
export const CONCURRENCY = 10

/** Creates WebApps in a namespace. */
export function createWebApps(
  client: KubeClient,
  namespace: string,
  count: number,
): Promise<readonly Stored<WebApp>[]> {
  return inParallel(count, (index) => client.create(WebApps, webApp(namespace, index)))
}

/** The name of the WebApp with this index. */
export const webAppName = (index: number): string => `app-${index}`

/** The WebApp with this index. */
export const webApp = (namespace: string, index: number): WebApp => ({
  apiVersion: 'example.com/v1',
  kind: 'WebApp',
  metadata: { name: webAppName(index), namespace },
  // What is left out has a default in the schema.
  spec: { image: 'nginx:1.29', replicas: 2 } as WebApp['spec'],
})

/** Waits until the API server serves WebApps, a moment after their definition is created. */
export async function untilServed(client: KubeClient, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      await client.list(WebApps, { namespace: 'default' })
      return
    } catch {
      // Not established yet: the next attempt will show.
    }
  }
}

/** Does work for each index, {@link CONCURRENCY} at a time. */
export async function inParallel<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(count)
  let next = 0
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return results
}
