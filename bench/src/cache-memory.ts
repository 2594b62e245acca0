/** Memory per cached pod, beside the bytes of its JSON. */
import { setImmediate } from 'node:timers/promises'
import { ApiError, type KubeClient, type Pod, Pods } from '@reeve/kube'
import { Cache, type InformerOptions } from '@reeve/runtime/cache'
import { realisticPod } from './realistic-pods.ts'
import type { Result } from './result.ts'

/** Ways to cache pods, and the share of their JSON that each may take. */
const VARIANTS: readonly { readonly name: string; readonly target: number; readonly options: InformerOptions<Pod> }[] =
  [
    { name: 'without managedFields', target: 0.35, options: {} },
    { name: 'only metadata', target: 0.12, options: { metadataOnly: true } },
  ]

/** Which pods: the first are hard to share, because every environment variable contains the name of its pod. */
const KINDS: readonly { readonly name: string; readonly make: (index: number) => Pod }[] = [
  { name: 'pods', make: pod },
  { name: 'replicas of 300 templates', make: realisticPod },
]

/** Fills a cache with `count` pods, of each kind and in each way, and measures the heap and what V8 keeps outside it. */
export async function cacheMemory(count: number): Promise<readonly Result[]> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  const results: Result[] = []
  for (const { name: what, make } of KINDS) {
    const bytes = jsonBytes(count, make)
    for (const { name, target, options } of VARIANTS) {
      const each = await bytesPerPod(count, make, options)
      results.push({
        name: `cache of ${count} ${what}, ${name}`,
        figure: `${(each / 1024).toFixed(2)} KiB each`,
        beside: `${(bytes / 1024).toFixed(1)} KiB of JSON`,
        ratio: each / bytes,
        note: `lower is better; target: ${target}`,
      })
    }
  }
  return results
}

/** The bytes of one pod's JSON, on average. */
function jsonBytes(count: number, make: (index: number) => Pod): number {
  let bytes = 0
  for (let index = 0; index < count; index++) bytes += Buffer.byteLength(JSON.stringify(make(index)))
  return bytes / count
}

async function bytesPerPod(
  count: number,
  make: (index: number) => Pod,
  options: InformerOptions<Pod>,
): Promise<number> {
  const stop = new AbortController()
  const before = await heapBytes()
  const cache = new Cache(clientOf(count, make))
  cache.informer(Pods, options)
  const running = cache.run(stop.signal)
  await cache.waitForSync(stop.signal)
  const each = ((await heapBytes()) - before) / count
  const kept = cache.list(Pods).length
  stop.abort()
  await running
  if (kept !== count) throw new Error(`the cache has ${kept} of ${count} pods`)
  return each
}

/** After two turns and collections: what only a weak reference or a pending callback has is not counted. */
async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 2; turn++) {
    await setImmediate()
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** A client that only lists: every page is parsed from JSON, as from a server. */
function clientOf(count: number, make: (index: number) => Pod): KubeClient {
  const list: KubeClient['list'] = async (_resource, options = {}) => {
    const start = Number(options.continue ?? 0)
    const end = Math.min(count, start + (options.limit ?? count))
    const items = Array.from({ length: end - start }, (_, index) => JSON.stringify(make(start + index)))
    const metadata = { resourceVersion: '1', ...(end < count && { continue: String(end) }) }
    return JSON.parse(
      `{"apiVersion":"v1","kind":"PodList","metadata":${JSON.stringify(metadata)},"items":[${items.join(',')}]}`,
    )
  }
  const follow: KubeClient['follow'] = async (resource, { signal, sendInitialEvents }) => {
    if (sendInitialEvents) throw new ApiError({ verb: 'watch', resource: resource.plural }, 422)
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
  // The informer of this benchmark lists and watches; nothing else is called.
  return { list, follow } as KubeClient
}

/** A pod of the size that clusters have: about 5.8 KB of JSON, a third of it managedFields. */
export function pod(index: number): Pod {
  const name = `web-6f658c4ff-${index.toString(36).padStart(5, '0')}`
  const env = Array.from({ length: 12 }, (_, item) => ({
    name: `SETTING_${item}`,
    value: `value-of-setting-${item}-of-${name}`,
  }))
  const fields = Object.fromEntries(
    env.map((_, item) => [`k:{"name":"SETTING_${item}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
  )
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: `team-${index % 50}`,
      uid: `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: '2030-01-01T00:00:00Z',
      labels: { app: 'web', 'pod-template-hash': '6f658c4ff', team: `team-${index % 50}` },
      annotations: { 'example.com/checksum': 'c0ffee'.repeat(10) },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web-6f658c4ff',
          uid: `rs-${index % 500}`,
          controller: true,
        },
      ],
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2030-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:containers': { 'k:{"name":"web"}': { 'f:env': fields } } } },
        },
        {
          manager: 'kubelet',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2030-01-01T00:00:01Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:status': fields },
          subresource: 'status',
        },
      ],
    },
    spec: {
      nodeName: `node-${index % 100}`,
      serviceAccountName: 'default',
      containers: [
        {
          name: 'web',
          image: 'registry.example.com/team/web:1.2.3',
          env,
          ports: [{ containerPort: 8080, protocol: 'TCP' }],
          resources: { requests: { cpu: '100m', memory: '128Mi' } },
        },
        {
          name: 'sidecar',
          image: 'registry.example.com/mesh/proxy:4.5.6',
          args: ['--listen', '15001', '--upstream', '127.0.0.1:8080'],
        },
      ],
    },
    status: {
      phase: 'Running',
      podIP: `10.244.${index % 250}.${index % 200}`,
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: '2030-01-01T00:00:05Z',
      })),
    },
  } as Pod
}
