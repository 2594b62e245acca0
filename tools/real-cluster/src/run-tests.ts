/**
 * Implements `npm run test:real`: runs the suites for a real cluster against one that exists for the duration of the
 * run.
 *
 * Arguments go to vitest. `REEVE_REAL_CLUSTER_LOGS` names a folder that keeps the components' logs; `REEVE_OTEL=1`
 * builds the OpenTelemetry collector if it is missing. The exit code is vitest's, or 69 when the control plane is not
 * available on this machine (no Go, no binaries), 70 when it could not be built or crashed, 130 when the run was
 * interrupted.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBinaries } from './binaries.ts'
import { showBuildProgress } from './build-progress-line.ts'
import { ensureCsiSanity, findCsiSanity } from './csi-sanity.ts'
import { GoMissingError, RealClusterError } from './errors.ts'
import type { GoProgramOptions } from './go-program.ts'
import { actionlint, type GoTool, promtool } from './go-tools.ts'
import { startSimulatedNodes } from './nodes/simulated-nodes.ts'
import { ensureOtelCollector, findOtelCollector } from './otel-collector.ts'
import { type RealCluster, startRealCluster } from './real-cluster.ts'

const EXIT_UNAVAILABLE = 69
const EXIT_BROKEN = 70
const EXIT_INTERRUPTED = 130

const interrupted = new AbortController()
// A terminal sends Ctrl-C to vitest as well; here it only has to end what happens before vitest runs.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interrupted.abort())
}

try {
  process.exitCode = await runTests(process.argv.slice(2))
} catch (error) {
  process.exitCode = exitCodeFor(error)
}

function exitCodeFor(error: unknown): number {
  if (interrupted.signal.aborted) return EXIT_INTERRUPTED
  if (!(error instanceof RealClusterError)) throw error
  console.error(`real cluster: ${error.message}`)
  return error instanceof GoMissingError ? EXIT_UNAVAILABLE : EXIT_BROKEN
}

async function runTests(vitestArguments: readonly string[]): Promise<number> {
  const { signal } = interrupted
  const binaries = await ensureBinaries({ onProgress: showBuildProgress(process.stderr), signal })
  const collector = await otelCollector(signal)
  const sanity = await built('csi-sanity', findCsiSanity, ensureCsiSanity, signal)
  const tools = new Map<GoTool, string | undefined>()
  for (const tool of [promtool, actionlint]) tools.set(tool, await built(tool.name, tool.find, tool.ensure, signal))
  const logFolder = process.env.REEVE_REAL_CLUSTER_LOGS
  await using cluster = await startRealCluster({ binaries, signal, ...(logFolder && { logFolder }) })
  const nodes = ['node-1', 'node-2', 'node-3'].map((name) => ({ name }))
  await using _nodes = await startSimulatedNodes(cluster, { nodes })
  return await runVitest(cluster, { collector, sanity, tools }, vitestArguments)
}

/** Building takes minutes, so it is opt-in. */
async function otelCollector(signal: AbortSignal): Promise<string | undefined> {
  const found = await findOtelCollector()
  if (found !== undefined || process.env.REEVE_OTEL !== '1') return found
  console.error('real cluster: building the OpenTelemetry collector, which takes minutes')
  return ensureOtelCollector({ signal })
}

/** A program that takes a minute to build the first time. If that fails, its suite is skipped. */
async function built(
  name: string,
  find: () => Promise<string | undefined>,
  ensure: (options: GoProgramOptions) => Promise<string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await find()
  if (found !== undefined) return found
  console.error(`real cluster: building ${name}, which takes a minute`)
  try {
    return await ensure({ signal })
  } catch (error) {
    if (signal.aborted || !(error instanceof RealClusterError)) throw error
    console.error(`real cluster: its suite is skipped: ${error.message}`)
    return undefined
  }
}

/** Programs that some suites need; those of an absent one are skipped. */
interface Programs {
  readonly collector: string | undefined
  readonly sanity: string | undefined
  readonly tools: ReadonlyMap<GoTool, string | undefined>
}

async function runVitest(
  cluster: RealCluster,
  { collector, sanity, tools }: Programs,
  args: readonly string[],
): Promise<number> {
  const vitestFolder = dirname(createRequire(import.meta.url).resolve('vitest/package.json'))
  const vitest = spawn(process.execPath, [join(vitestFolder, 'vitest.mjs'), 'run', '--project', 'real', ...args], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: 'inherit',
    env: {
      ...process.env,
      REEVE_TEST_CLUSTER: 'real',
      REEVE_KUBECONFIG: cluster.kubeconfigPath,
      REEVE_ETCD_KUBECONFIG: cluster.etcdKubeconfigPath,
      ...(collector !== undefined && { REEVE_OTEL_COLLECTOR: collector }),
      ...(sanity !== undefined && { REEVE_CSI_SANITY: sanity }),
      ...Object.fromEntries([...tools].map(([{ name }, path]) => [`REEVE_${name.toUpperCase()}`, path])),
    },
  })
  const stopVitest = () => vitest.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', stopVitest)
  try {
    // No exit code means that a signal ended it.
    const ended = once(vitest, 'exit').then(([code]) => (typeof code === 'number' ? code : EXIT_INTERRUPTED))
    return await Promise.race([ended, cluster.failed])
  } finally {
    interrupted.signal.removeEventListener('abort', stopVitest)
    vitest.kill('SIGTERM')
  }
}
