/** What a large cluster costs the operator in memory, beside the bytes of its nodes and pods. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { connectionOf, RawClient } from '@reeve/cluster-under-test'
import { DynaKubes } from '@reeve/dynatrace'
import { DaemonSets, type Pod } from '@reeve/kube'
import type { ClusterKind } from './bench-cluster.ts'
import { pod } from './cache-memory.ts'
import type { OperatorMemory } from './dynatrace-memory-operator.ts'
import { type DynatraceStage, fullDynaKube, NAMESPACE, startDynatraceStage } from './dynatrace-stage.ts'
import { agentPod, node } from './large-cluster.ts'
import type { Result } from './result.ts'

const OPERATOR = fileURLToPath(new URL('./dynatrace-memory-operator.ts', import.meta.url))
const MIB = 1024 ** 2
const CONCURRENCY = 20
const TENANT = 'large'
const DYNAKUBE = 'dynakube'
const TEAMS = 50

/** How large the cluster is. */
export interface ClusterSize {
  readonly nodes: number
  /** One agent on each node, and applications. */
  readonly pods: number
}

/** Starts the operator on an empty cluster, and again after it was filled. */
export async function dynatraceMemory(kind: ClusterKind, size: ClusterSize): Promise<readonly Result[]> {
  await using stage = await startDynatraceStage(kind, [TENANT])
  const [tenant] = stage.tenants
  if (tenant === undefined) throw new Error('the tenant does not exist')
  await stage.client.create(DynaKubes, fullDynaKube(tenant, { namespace: NAMESPACE, name: DYNAKUBE }, true))
  const empty = await memoryOfOperator(stage, 0)
  const bytes = await fill(stage, size)
  const full = await memoryOfOperator(stage, size.nodes)
  if (full.agents !== size.nodes) throw new Error(`the operator lists ${full.agents} agents of ${size.nodes}`)
  const name = `${size.nodes} nodes, ${size.pods} pods`
  const result = (what: string, before: number, after: number): Result => ({
    name: `${what} with ${name} (${kind})`,
    figure: `${((after - before) / MIB).toFixed(1)} MiB more than ${(before / MIB).toFixed(1)}`,
    beside: `${(bytes / MIB).toFixed(1)} MiB of JSON`,
    ratio: (after - before) / bytes,
    note: 'lower is better',
  })
  return [
    result('heap', empty.heapBytes, full.heapBytes),
    result('resident memory', empty.residentBytes, full.residentBytes),
  ]
}

async function memoryOfOperator({ cluster }: DynatraceStage, nodes: number): Promise<OperatorMemory> {
  const child = fork(OPERATOR, [cluster.kubeconfigPath, String(nodes)], { execArgv: ['--expose-gc'] })
  const ended = once(child, 'exit')
  const failed = ended.then(([code]) => Promise.reject(new Error(`the operator ended with ${code}`)))
  const [memory] = (await Promise.race([once(child, 'message'), failed])) as [OperatorMemory] // its only message
  await ended
  return memory
}

/** Fills the cluster; returns the bytes written. */
async function fill({ cluster, client }: DynatraceStage, { nodes, pods }: ClusterSize): Promise<number> {
  // Over HTTP/2 the client sends one write at a time.
  const raw = new RawClient({ ...connectionOf(await readFile(cluster.kubeconfigPath, 'utf8')), allowH2: false })
  let bytes = 0
  const write = async (method: 'POST' | 'PUT', path: string, object: object) => {
    const body = JSON.stringify(object)
    const { status, text } = await raw.send({ method, path, body })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text
  }
  const namespaces = [NAMESPACE, ...Array.from({ length: TEAMS }, (_, index) => `team-${index}`)]
  for (const name of namespaces) {
    if (name !== NAMESPACE) await write('POST', '/api/v1/namespaces', { metadata: { name } })
    // Pods are admitted only where these are, which otherwise a controller and the chart make.
    const accounts = `/api/v1/namespaces/${name}/serviceaccounts`
    for (const account of ['default', 'dynatrace-dynakube-oneagent']) {
      await write('POST', accounts, { metadata: { name: account } })
    }
  }
  await inParallel(nodes, async (index) => {
    const text = await write('POST', '/api/v1/nodes', node(index))
    bytes += text.length
  })
  const agents = await client.get(DaemonSets, { namespace: NAMESPACE, name: `${DYNAKUBE}-oneagent` })
  await inParallel(pods, async (index) => {
    const namespace = index < nodes ? NAMESPACE : `team-${index % TEAMS}`
    const path = `/api/v1/namespaces/${namespace}/pods`
    const wanted = index < nodes ? agentPod(agents, index) : applicationPod(index)
    const created = JSON.parse(await write('POST', path, wanted))
    // A server ignores the status of a pod that is created.
    const status = { ...created.status, ...wanted.status }
    const text = await write('PUT', `${path}/${created.metadata.name}/status`, { ...created, status })
    bytes += text.length
  })
  await raw.close()
  return bytes
}

/** Before the server has stored it. */
function applicationPod(index: number): Pod {
  const { metadata, ...rest } = pod(index)
  const { name, labels, annotations, ownerReferences } = metadata
  return { ...rest, metadata: { name, labels, annotations, ownerReferences } as Pod['metadata'] }
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
