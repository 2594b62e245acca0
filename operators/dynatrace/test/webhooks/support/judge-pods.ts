/** Has an API server judge generated pods before and after injection. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { ApiError, connect, type KubeClient, Namespaces, type Pod, Pods } from '@reeve/kube'
import fc from 'fast-check'
import { arbitraryInjection } from '../../../src/webhooks/pods/testing/arbitrary-injection.ts'
import { inject } from '../../../src/webhooks/pods/testing/build.ts'

const AT_ONCE = 16

/** What the API server says. */
export interface Judgement {
  /** How many pods were injected. */
  readonly injected: number
  /** Why pods are rejected that are accepted without injection; each reason once. */
  readonly rejections: readonly string[]
}

/** Judges this many pods, always the same. */
export async function judgeInjectedPods(count: number): Promise<Judgement> {
  await using started = new AsyncDisposableStack()
  const cluster = await startEmbeddedCluster({ nodes: 0 })
  started.defer(() => cluster.stop())
  const folder = await mkdtemp(join(tmpdir(), 'reeve-pods-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const client = await connect({ kubeconfig })
  started.defer(() => client.close())
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })

  const cases = fc.sample(arbitraryInjection, { numRuns: count, seed: 17 })
  const rejections = new Set<string>()
  let injected = 0
  const judge = async () => {
    for (let next = cases.pop(); next !== undefined; next = cases.pop()) {
      const { pod, outcome } = inject(next.input, next.facts)
      if (outcome !== 'injected' && outcome !== 'updated') continue
      injected += 1
      const message = await rejection(client, pod)
      if (message !== undefined && (await rejection(client, next.input.pod)) === undefined) rejections.add(message)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, judge))
  return { injected, rejections: [...rejections] }
}

/** What the API server says against a pod; nothing when it accepts it. */
async function rejection(client: KubeClient, pod: Pod): Promise<string | undefined> {
  try {
    await client.create(Pods, pod, { dryRun: true, fieldValidation: 'Strict' })
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}
