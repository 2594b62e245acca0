/** The files of the image: everything that is loaded when it is needed is in them, in a form that can be loaded. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { NODE_SUBCOMMANDS } from '../../src/cli/node-subcommands.ts'
import { SMALL_SUBCOMMANDS } from '../../src/cli/small-subcommands.ts'

const run = promisify(execFile)
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))

let folder: string
let program: string

beforeAll(async () => {
  // Far from node_modules, as in the image.
  folder = await mkdtemp(join(tmpdir(), 'reeve-bundle-'))
  program = join(folder, 'dynatrace-operator.js')
  await run('npm', ['run', 'bundle'], { cwd: PACKAGE, env: { ...process.env, OUTDIR: folder } })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('the bundle starts alone', async () => {
  const { stdout } = await run(process.execPath, [program, '--version'], { cwd: folder })
  expect(stdout.trim()).toBe(manifest.version)
})

it('the bundle that prepares pods is small, without an HTTP or Kubernetes client', async () => {
  const bundle = await readFile(join(folder, 'bootstrap.cjs'), 'utf8')
  expect(bundle).not.toMatch(/undici|KubeClient|commander|pino/)
  expect(bundle.length).toBeLessThan(100_000)
  const { stdout } = await run(process.execPath, [program, 'bootstrap', '--help'])
  expect(stdout).toContain('--metadata-enrichment')
})

it('the bundle runs probes, init containers and the CSI driver without reading the bundle of the operator', async () => {
  await rename(join(folder, 'dynatrace-operator.cjs'), join(folder, 'elsewhere.cjs'))
  try {
    const apart = [...SMALL_SUBCOMMANDS, ...NODE_SUBCOMMANDS]
    const ended = apart.map(({ name }) => run(process.execPath, [program, name, '--help']))
    for (const { stdout } of await Promise.all(ended)) expect(stdout).toContain('Examples:')
  } finally {
    await rename(join(folder, 'elsewhere.cjs'), join(folder, 'dynatrace-operator.cjs'))
  }
})

it('the bundle talks to a cluster by a kubeconfig', async () => {
  await using cluster = await startEmbeddedCluster()
  const kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const { stdout, stderr } = await run(process.execPath, [program, 'crd-storage-migration', '--namespace=default'], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
  })
  expect(`${stdout}${stderr}`).toContain('nothing to migrate')
})

it('the bundle makes certificates and writes YAML', async () => {
  const child = spawn(process.execPath, [program, 'simulate-tenant', '--port=0', '--print-manifest'])
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += String(chunk)
    if (text.includes('kind: DynaKube')) child.kill()
  })
  await once(child, 'close')
  expect(parseAllDocuments(text).map((document) => document.get('kind'))).toEqual(['Secret', 'ConfigMap', 'DynaKube'])
})
