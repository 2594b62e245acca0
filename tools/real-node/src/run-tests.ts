/**
 * Implements `npm run test:node`: runs the suites that need a real node in a sandbox that exists for the duration of the
 * run.
 *
 * `--ci` runs the suites that are short enough for every commit, see {@link CI_SUITES}; other arguments go to vitest.
 * `REEVE_REAL_NODE_LOGS` names a folder that keeps the logs of the components,
 * `REEVE_REAL_NODE_IMAGES` one with images that are not built again. The exit code is vitest's, or 69 when a node cannot
 * run on this machine or its sources cannot be downloaded, 70 when it could not be built or started, 130 when the run was
 * interrupted.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findClientBinary } from '@reeve/client-binaries'
import {
  BuildFailedError,
  ensureBinaries,
  GoMissingError,
  RealClusterError,
  showBuildProgress,
} from '@reeve/real-cluster'
import { assertSandbox } from './assert-sandbox.ts'
import { ensureContainerRuntime } from './container-runtime.ts'
import { RealNodeError, UnsupportedMachineError } from './errors.ts'
import { buildImages } from './images.ts'
import { ensureNodePrograms } from './node-programs.ts'
import { thisMachine, whyNoNode } from './requirements.ts'
import type { InsideSettings } from './run-inside.ts'
import { runInSandbox } from './sandbox.ts'

const EXIT_UNAVAILABLE = 69
const EXIT_BROKEN = 70
const EXIT_INTERRUPTED = 130
/** Of the Go command: the sources of the kubelet cannot be downloaded here. */
const MISSING_MODULES = /dial tcp|no such host|i\/o timeout|connection refused|reading https?:\S+: \d{3} /
const OPERATORS = ['dynatrace', 'webapp', 'collector']
/** Each operator with real pods, and the CSI driver. The other suites take ten minutes more. */
const CI_SUITES = ['cloud-native', 'webapp', 'collector']

const startedAt = Date.now()
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())

try {
  process.exitCode = await runTests(process.argv.slice(2).flatMap((each) => (each === '--ci' ? CI_SUITES : each)))
} catch (error) {
  process.exitCode = exitCodeFor(error)
}

function exitCodeFor(error: unknown): number {
  if (interrupted.signal.aborted) return EXIT_INTERRUPTED
  if (!(error instanceof RealNodeError || error instanceof RealClusterError)) throw error
  console.error(`real node: ${error.message}`)
  return isUnavailable(error) ? EXIT_UNAVAILABLE : EXIT_BROKEN
}

function isUnavailable(error: RealNodeError | RealClusterError): boolean {
  if (error instanceof BuildFailedError) return MISSING_MODULES.test(error.message)
  return error instanceof UnsupportedMachineError || error instanceof GoMissingError
}

async function runTests(vitestArguments: readonly string[]): Promise<number> {
  const { signal } = interrupted
  const reason = whyNoNode(thisMachine())
  if (reason !== undefined) throw new UnsupportedMachineError(reason)
  const { REEVE_REAL_NODE_LOGS: logs, REEVE_REAL_NODE_IMAGES: keptImages } = process.env
  if (logs) await mkdir(logs, { recursive: true })
  const onStep = showStep
  onStep('downloading containerd, runc, CNI plugins and iptables, unless they are cached')
  const runtime = await ensureContainerRuntime({ signal })
  await assertSandbox(runtime, signal)
  await ensureBinaries({ onProgress: showBuildProgress(process.stderr), signal })
  const programs = await ensureNodePrograms({ onStep, signal })
  // They are unpacked into the cache, which is read-only in the sandbox.
  for (const client of ['kubectl', 'helm'] as const) await findClientBinary(client)
  const folder = keptImages || (await mkdtemp(join(tmpdir(), 'reeve-node-images-')))
  try {
    const images = await buildImages({ programs, runtime, folder, operators: OPERATORS, onStep, signal })
    const settings: InsideSettings = { programs, runtime, images, vitestArguments }
    const inside = fileURLToPath(new URL('./run-inside.ts', import.meta.url))
    const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
    const env = { ...process.env, REEVE_NODE_SETTINGS: JSON.stringify(settings), REEVE_NODE_MODULES: modules }
    return await runInSandbox([process.execPath, inside], { env, signal })
  } finally {
    if (!keptImages) await rm(folder, { recursive: true, force: true })
  }
}

function showStep(step: string): void {
  console.error(`real node: ${step} (${Math.round((Date.now() - startedAt) / 1000)} s)`)
}
