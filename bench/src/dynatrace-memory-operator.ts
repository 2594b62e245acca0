/** The operator of the memory benchmark in a separate process; reports how much memory it uses once it has settled. */
import { clusterIdOf, createDynatraceOperator, DynaKubes } from '@reeve/dynatrace'
import { connect, Nodes } from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { NAMESPACE } from './dynatrace-stage.ts'

/** What the process says before it ends. */
export interface OperatorMemory {
  readonly heapBytes: number
  readonly residentBytes: number
  /** Agents that the status of the DynaKube lists: the operator has seen the pods. */
  readonly agents: number
}

/** Shorter than it takes to fill the cluster: agents are listed in the first reconcile, and not in every one. */
const INSTANCES_INTERVAL_MS = 10_000

async function main(kubeconfig: string, nodes: number): Promise<void> {
  const client = await connect({ kubeconfig, fieldManager: 'dynatrace-operator' })
  const reconciles = new Set<string>()
  const settled = Promise.withResolvers<void>()
  let quiet = 0
  const onReconcile = ({ controller, key, error }: ReconcileRecord) => {
    if (controller === 'nodes-controller') reconciles.add(key.name)
    else if (error === undefined) quiet += 1
    if (reconciles.size >= nodes && quiet >= 2) settled.resolve()
  }
  const { manager, cache } = createDynatraceOperator({
    client,
    namespace: NAMESPACE,
    clusterId: await clusterIdOf(client),
    operator: { version: '1.0.0', image: 'registry.example.com/operator:1.0.0', hasCsiDriver: true },
    detectsHostAvailability: true,
    issuesCertificates: false,
    instancesIntervalMs: INSTANCES_INTERVAL_MS,
    onReconcile,
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await cache.waitForSync(stop.signal)
  await settled.promise
  if (cache.list(Nodes).length !== nodes) throw new Error(`the operator sees ${cache.list(Nodes).length} nodes`)
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const [dynakube] = cache.list(DynaKubes, { namespace: NAMESPACE })
  const agents = Object.keys(dynakube?.status?.oneAgent?.instances ?? {}).length
  const memory: OperatorMemory = { heapBytes: heapUsed, residentBytes: rss, agents }
  process.send?.(memory)
  stop.abort()
  await running
  await client.close()
  process.disconnect()
}

const [kubeconfig = '', nodes = ''] = process.argv.slice(2)
await main(kubeconfig, Number(nodes))
