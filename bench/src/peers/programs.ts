/** The operators that are compared: ours as it ships, and its peer built from source. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import * as image from '@reeve/image'
import { cacheFolder, ensureProgram, inFolder, type RealCluster } from '@reeve/real-cluster'
import { CONCURRENCY } from '../webapp-load.ts'
import type { OperatorCommand } from './operator-process.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const PEER = fileURLToPath(new URL('../../peers/webapp-operator', import.meta.url))
/** As in the chart. */
const MEMORY_LIMIT_BYTES = 384 * 1024 ** 2
const RECONCILES = /^controller_runtime_reconcile_total\{/

/** Makes the command for a cluster. */
export type OperatorOn = (cluster: Pick<RealCluster, 'kubeconfigPath'>) => OperatorCommand

/** Builds the peer, an operator of controller-runtime; takes minutes the first time. */
export async function controllerRuntimeOperator(): Promise<OperatorOn> {
  const path = await ensureProgram({
    path: join(cacheFolder(process.env), `webapp-peer-${process.platform}-${process.arch}`),
    sources: inFolder(PEER, ['go.mod', 'go.sum', 'main.go', 'reconciler.go', 'webapp.go']),
    moduleFolder: PEER,
    package: '.',
  })
  return ({ kubeconfigPath }) => ({
    command: path,
    args: (port) => [
      ...['--namespace', 'operator', '--concurrency', String(CONCURRENCY)],
      ...['--metrics-bind-address', `127.0.0.1:${port}`],
    ],
    env: { KUBECONFIG: kubeconfigPath },
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
    reconciles: RECONCILES,
  })
}

/**
 * Bundles our operator into a folder, as its image contains it.
 *
 * @param checkout of another commit, with its packages installed
 */
export async function reeveOperator(folder: string, checkout = REPOSITORY): Promise<OperatorOn> {
  const cwd = join(checkout, 'operators/webapp')
  await promisify(execFile)('npm', ['run', 'bundle'], { cwd, env: { ...process.env, OUTDIR: folder } })
  const { ALLOCATOR, imageDefinition } = checkout === REPOSITORY ? image : await imageOf(checkout)
  const { nodeOption } = imageDefinition('webapp')
  return ({ kubeconfigPath }) => ({
    command: process.execPath,
    args: (port) => [
      ...(nodeOption === undefined ? [] : [nodeOption]),
      ...[join(folder, 'webapp-operator.js'), 'run', '--kubeconfig', kubeconfigPath],
      ...['--watch-namespace', 'operator', '--concurrency', String(CONCURRENCY), '--health-port', String(port)],
    ],
    // The root of the image is read-only: there is no folder for the cache.
    env: { ...ALLOCATOR, NODE_DISABLE_COMPILE_CACHE: '1' },
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
    reconciles: RECONCILES,
  })
}

/** What another commit says about images. */
async function imageOf(checkout: string): Promise<typeof image> {
  // The same module at another commit: what is used of it is checked by use.
  return (await import(pathToFileURL(join(checkout, 'tools/image/src/index.ts')).href)) as typeof image
}
