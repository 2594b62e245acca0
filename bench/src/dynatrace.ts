/** The Dynatrace operator: how fast it rolls out, and how much memory a large cluster costs it. */
import type { ClusterKind } from './bench-cluster.ts'
import { dynatraceApply } from './dynatrace-apply.ts'
import { dynatraceMemory } from './dynatrace-memory.ts'
import type { Result } from './result.ts'

/** Both benchmarks with the numbers of the documentation. */
export async function dynatrace(kind: ClusterKind): Promise<readonly Result[]> {
  return [...(await dynatraceApply(kind, 50)), ...(await dynatraceMemory(kind, { nodes: 5_000, pods: 20_000 }))]
}
