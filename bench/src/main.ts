/** `npm run bench [-- name …] [-- --cluster=real]`: runs benchmarks and prints each beside its limit. */
import { parseArgs } from 'node:util'
import type { ClusterKind } from './bench-cluster.ts'
import { asTable, type Result } from './result.ts'

const BENCHMARKS: Readonly<Record<string, (kind: ClusterKind) => Promise<Result | readonly Result[]>>> = {
  reconcile: async (kind) => (await import('./reconcile-throughput.ts')).reconcileThroughput(kind, 1_000),
  memory: async () => (await import('./cache-memory.ts')).cacheMemory(10_000),
  'cold-start': async (kind) => (await import('./cold-start.ts')).coldStart(kind),
  // No cluster takes part: look-ups are answered in memory.
  admission: async () => (await import('./admission.ts')).admission({ roundMs: 2_000 }),
  // Both clusters take part whatever --cluster says.
  'embedded-cluster': async () =>
    (await import('./embedded-cluster.ts')).embeddedCluster({
      pods: 10_000,
      objects: 50_000,
      watchers: 50,
      changes: 200,
    }),
  collector: async (kind) => (await import('./collector.ts')).collectors(kind, 100),
  'agent-download': async () => (await import('./agent-download.ts')).agentDownload(1024 ** 3),
  dynatrace: async (kind) => (await import('./dynatrace-apply.ts')).dynatraceApply(kind, 50),
  'dynatrace-memory': async (kind) =>
    (await import('./dynatrace-memory.ts')).dynatraceMemory(kind, { nodes: 5_000, pods: 20_000 }),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cluster: { type: 'string', default: 'embedded' }, output: { type: 'string', default: 'text' } },
})
const unknown = positionals.filter((name) => !(name in BENCHMARKS))
if (unknown.length > 0 || (values.cluster !== 'embedded' && values.cluster !== 'real')) {
  console.error(
    `usage: npm run bench [-- ${Object.keys(BENCHMARKS).join(' | ')}] [-- --cluster=embedded|real] [-- --output=json]`,
  )
  process.exit(64)
}
const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS)
const results: Result[] = []
for (const name of names) {
  console.error(`running ${name} …`)
  const result = await BENCHMARKS[name]?.(values.cluster)
  if (result !== undefined) results.push(...[result].flat())
}
console.log(values.output === 'json' ? JSON.stringify(results, null, 2) : asTable(results))
