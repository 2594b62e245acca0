/** `npm run bench [-- name …] [-- --cluster=real]`: runs benchmarks and prints each beside its limit. */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ClusterKind } from './bench-cluster.ts'
import { asTable, type Result } from './result.ts'
import { writeResults } from './write-results.ts'

/** What the command line says about how to run. */
interface RunOptions {
  readonly kind: ClusterKind
  readonly isQuick: boolean
  readonly baseline: string | undefined
  readonly minutes: number | undefined
}

const BENCHMARKS: Readonly<Record<string, (options: RunOptions) => Promise<Result | readonly Result[]>>> = {
  reconcile: async ({ kind }) => (await import('./reconcile-throughput.ts')).reconcileThroughput(kind, 1_000),
  memory: async () => (await import('./cache-memory.ts')).cacheMemory(10_000),
  'cold-start': async ({ kind }) => (await import('./cold-start.ts')).coldStart(kind),
  // No cluster takes part: look-ups are served from memory.
  admission: async () => (await import('./admission.ts')).admission({ roundMs: 2_000 }),
  injection: async () => (await import('./injection.ts')).injection({ roundMs: 3_000 }),
  // Both clusters take part regardless of --cluster.
  'embedded-cluster': async () =>
    (await import('./embedded-cluster.ts')).embeddedCluster({
      pods: 10_000,
      objects: 50_000,
      watchers: 50,
      changes: 200,
    }),
  collector: async ({ kind }) => (await import('./collector.ts')).collectors(kind, 100),
  'agent-download': async () => (await import('./agent-download.ts')).agentDownload(1024 ** 3),
  // No cluster takes part: it reads and writes files.
  bootstrapper: async () => (await import('./bootstrapper.ts')).bootstrapper(256 * 1024 ** 2),
  // No cluster takes part: it mounts volumes of this machine, and needs root.
  csi: async () => (await import('./csi.ts')).csi(1024 ** 3),
  dynatrace: async ({ kind }) => (await import('./dynatrace-apply.ts')).dynatraceApply(kind, 50),
  // Always on a real control plane; the peer is built, which needs Go.
  'operator-alone': async (options) => (await import('./peers/operator-alone.ts')).operatorAlone(options),
  'peer-webapps': async () => (await import('./peers/peers.ts')).besidePeers('peer-webapps'),
  'peer-api-servers': async () => (await import('./peers/peers.ts')).besidePeers('peer-api-servers'),
  'peer-dynakubes': async () => (await import('./peers/peers.ts')).besidePeers('peer-dynakubes'),
  'peer-admission': async () => (await import('./peers/peers.ts')).besidePeers('peer-admission'),
  soak: async ({ minutes, isQuick }) => (await import('./soak.ts')).soak(minutes ?? (isQuick ? 3 : 60)),
  'dynatrace-memory': async ({ kind }) =>
    (await import('./dynatrace-memory.ts')).dynatraceMemory(kind, { nodes: 5_000, pods: 20_000 }),
}

/** It takes an hour, and only runs when it is named. */
const SOAK = 'soak'

/** Names for several benchmarks. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  peers: ['operator-alone', 'peer-webapps', 'peer-api-servers', 'memory', 'peer-dynakubes', 'peer-admission'],
}

const USAGE = `Usage: npm run bench [-- options and names]

Runs benchmarks and prints each figure beside that of a peer, or the raw limit. Without names: all but soak, for hours.

  names                       ${Object.keys(BENCHMARKS).join(', ')};
                              peers: ${GROUPS.peers?.join(', ')}
  --cluster <embedded|real>   where operators run; the real control plane needs Go the first time (default: embedded)
  --quick                     operator-alone and soak: small and short, to see that they work; their figures mean nothing
  --baseline <folder>         operator-alone: a clone at another commit, with its packages installed, in the same turns
  --minutes <number>          soak: how long (default: 60)
  --output <text|json>        how to report (default: text)
  --write                     put the results into docs/benchmarks.md, with the date and the machine
  --help                      show this text

Examples:
  npm run bench -- reconcile cold-start
  npm run bench -- collector --cluster=real --output=json
  npm run bench -- peers --write

Exit code: 0 when all have run, 1 when one failed, 64 when the command line is wrong.`

/** The command line; `undefined` when it makes no sense. */
function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        cluster: { type: 'string', default: 'embedded' },
        output: { type: 'string', default: 'text' },
        write: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        baseline: { type: 'string' },
        minutes: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    const { cluster, output, help, write, quick, baseline, minutes } = values
    const names = positionals.flatMap((name) => GROUPS[name] ?? name)
    if (cluster !== 'embedded' && cluster !== 'real') return undefined
    if ((output !== 'text' && output !== 'json') || names.some((name) => !(name in BENCHMARKS))) return undefined
    if (minutes !== undefined && !(Number(minutes) > 0)) return undefined
    return {
      options: {
        kind: cluster,
        isQuick: quick,
        baseline,
        minutes: minutes === undefined ? undefined : Number(minutes),
      },
      output,
      help,
      write,
      names: names.length > 0 ? names : Object.keys(BENCHMARKS).filter((name) => name !== SOAK),
    } as const
  } catch {
    // An unknown option: the usage lists the valid ones.
    return undefined
  }
}

const command = readArguments()
if (command === undefined || command.help) {
  console[command === undefined ? 'error' : 'log'](USAGE)
  process.exit(command === undefined ? 64 : 0)
}
const { options, output, names, write } = command
const page = new URL('../../docs/benchmarks.md', import.meta.url)
const results: Result[] = []
for (const name of names) {
  console.error(`running ${name} …`)
  try {
    const found = [(await BENCHMARKS[name]?.(options)) ?? []].flat()
    if (write) await writeResults(fileURLToPath(page), name, found, new Date())
    results.push(...found)
  } catch (error) {
    // What the others have measured for minutes is not lost.
    console.error(`${name} failed:`, error)
    process.exitCode = 1
  }
}
console.log(output === 'json' ? JSON.stringify(results, null, 2) : asTable(results))
