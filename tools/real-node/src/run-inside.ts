/** Runs in the sandbox: starts the node, then vitest. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContainerRuntime } from './container-runtime.ts'
import { NODE_IP } from './defaults.ts'
import { RealNodeError } from './errors.ts'
import type { NodeImages } from './images.ts'
import { type LayoutRegistry, startLayoutRegistry } from './layout-registry.ts'
import { type NodeControl, startNodeControl } from './node-control.ts'
import type { NodePrograms } from './node-programs.ts'
import { type RealNode, startNode } from './start-node.ts'
import { trustRegistry } from './trust-registry.ts'

/** The variable `REEVE_NODE_SETTINGS`, as JSON. */
export interface InsideSettings {
  readonly programs: NodePrograms
  readonly runtime: ContainerRuntime
  readonly images: NodeImages
  readonly vitestArguments: readonly string[]
}

const EXIT_BROKEN = 70

// Written by run-tests.ts: the shape is known.
const settings = JSON.parse(process.env.REEVE_NODE_SETTINGS ?? '') as InsideSettings
const temporary = process.env.TMPDIR ?? ''
const sandbox = dirname(temporary)
try {
  const startedAt = performance.now()
  const folder = join(sandbox, 'node')
  await mkdir(folder, { recursive: true })
  await using registry = await startLayoutRegistry(settings.images.pulled, NODE_IP)
  await using node = await startNode({
    ...settings,
    images: settings.images.imported,
    folder,
    logFolder: process.env.REEVE_REAL_NODE_LOGS ?? join(folder, 'logs'),
    cgroup: basename(sandbox),
    onStep: (step) => console.error(`real node: ${step}`),
  })
  await trustRegistry(node.registries, `http://${registry.host}`)
  console.error(`real node: ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  await using control = await startNodeControl(node, folder)
  process.exitCode = await runVitest(node, control, registry, settings)
} catch (error) {
  console.error(`real node: ${error instanceof RealNodeError ? error.message : String(error)}`)
  process.exitCode = EXIT_BROKEN
}
// Components that could not be stopped end with the sandbox.
process.exit()

async function runVitest(
  node: RealNode,
  control: NodeControl,
  registry: LayoutRegistry,
  { programs, runtime, images, vitestArguments }: InsideSettings,
): Promise<number> {
  const vitestFolder = dirname(createRequire(import.meta.url).resolve('vitest/package.json'))
  const args = [
    join(vitestFolder, 'vitest.mjs'),
    'run',
    '--project',
    'node*',
    '--reporter',
    'verbose',
    ...vitestArguments,
  ]
  const references = Object.keys(images.pulled).map((name) => [name, registry.reference(name)])
  const vitest = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: 'inherit',
    env: {
      ...process.env,
      ...runtime.env,
      REEVE_KUBECONFIG: node.cluster.kubeconfigPath,
      REEVE_NODE_CGROUP: basename(sandbox),
      REEVE_NODE_REGISTRIES: node.registries,
      REEVE_NODE_BUSYBOX: runtime.busybox,
      REEVE_NODE_GATEWAY: programs.gateway,
      REEVE_NODE_IMAGES: JSON.stringify(Object.fromEntries(references)),
      REEVE_NODE_LAYOUTS: JSON.stringify(images.pulled),
      REEVE_NODE_CONTROL: control.socket,
    },
  })
  const [code] = await Promise.race([once(vitest, 'exit'), node.cluster.failed])
  return typeof code === 'number' ? code : EXIT_BROKEN
}
