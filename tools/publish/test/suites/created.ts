/** `npm create reeve-operator`: the project that it writes works, with the packed packages and outside the repository. */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ConfigMaps, connect, isApiError, type KubeClient } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunOptions, start, stop, succeed } from '../../src/run.ts'
import { hasNodes, installNode } from '../support/nodes.ts'
import { packed } from '../support/packed.ts'
import { readWorkflow } from '../support/workflow.ts'

const LONG_MS = 900_000

let folder: string
let path: string | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-created-'))
  // The oldest that is supported; elsewhere that of the machine.
  path = hasNodes ? await installNode(22, folder) : undefined
}, LONG_MS)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** In the folder of the test, or in the project. */
const inside = (cwd: string): RunOptions => ({ cwd, ...(path !== undefined && { path }) })

/** Runs `npm create reeve-operator` from the archives, and installs the project. */
async function create(kind: string, ...options: readonly string[]): Promise<string> {
  const archives = Object.fromEntries((await packed()).map(({ name, archive }) => [name, `file:${archive}`]))
  const creator = join(folder, `creator-${kind}`)
  const project = join(folder, `${kind}-project`)
  await succeed('mkdir', [creator], inside(folder))
  // All of them, also the optional one: the registry does not have them and need not be asked.
  await writeFile(join(creator, 'package.json'), JSON.stringify({ private: true, dependencies: archives }))
  await succeed('npm', ['install', '--no-audit', '--no-fund'], inside(creator))
  const args = ['create-reeve-operator', '--group', 'shop.example.com', '--kind', kind, ...options, project]
  await succeed('npx', args, inside(creator))
  const file = join(project, 'package.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  // The registry does not have them, so every package comes from its archive.
  const { 'create-reeve-operator': _, ...installed } = archives
  manifest.devDependencies = { ...manifest.devDependencies, ...installed }
  for (const name of Object.keys(installed)) delete manifest.dependencies[name]
  await writeFile(file, JSON.stringify(manifest))
  await succeed('npm', ['install', '--no-audit', '--no-fund'], inside(project))
  return project
}

describe.each([
  { kind: 'Shop', options: [] },
  { kind: 'WebPolicy', options: ['--webhooks'] },
])('the project of $kind $options', ({ kind, options }) => {
  let project: string
  const plural = kind === 'Shop' ? 'shops' : 'webpolicies'
  const resource = { group: 'shop.example.com', version: 'v1', kind, plural, namespaced: true } as const
  const key = { namespace: 'default', name: 'first' }
  beforeAll(async () => {
    project = await create(kind, ...options)
  }, LONG_MS)

  it('passes its own workflow, every step that can run outside GitHub', { timeout: LONG_MS }, async () => {
    const { run, notRun } = await readWorkflow(join(project, '.github/workflows/ci.yml'))
    for (const { step, reason } of notRun) console.log(`not run: ${step}: ${reason}`)
    expect(run.length).toBeGreaterThan(3)
    for (const script of run) {
      // As runners call it.
      const output = await succeed('bash', ['-e', '-o', 'pipefail', '-c', script], inside(project))
      if (script === 'npm test') expect(output).toMatch(/pass [4-9]/)
    }
  })

  it('prints its CRD and roles with reeve', { timeout: LONG_MS }, async () => {
    expect(await succeed('npx', ['reeve', 'crd'], inside(project))).toContain(`name: ${plural}.shop.example.com`)
    expect(await succeed('npx', ['reeve', 'rbac'], inside(project))).toContain(plural)
  })

  it('runs with npm start until it is stopped', { timeout: LONG_MS }, async () => {
    const program = start('npm', ['start'], inside(project))
    await running(program, project, async (client, signal, output) => {
      expect(await messageOf(client, signal)).toBe('good morning')
      expect(output()).toMatch(/console: http/)
      expect(output()).not.toMatch(/WARN|ERROR|404/)
      if (options.length === 0) return
      // Whitespace around the message is what the webhook of the template rejects.
      await expect(client.patch(resource, key, { type: 'merge', patch: { spec: { message: ' hi' } } })).rejects.toThrow(
        'white space',
      )
    })
  })

  it('shows its console with run --console', { timeout: LONG_MS }, async () => {
    const program = start('npm', ['start'], inside(project))
    await running(program, project, async (_client, signal) => {
      const kubeconfig = join(project, 'kubeconfig.yaml')
      const args = [
        'src/main.ts',
        'run',
        '--console',
        '--console-port=0',
        '--health-port=0',
        '--kubeconfig',
        kubeconfig,
      ]
      const shown = start('node', args, inside(project))
      try {
        const page = await fetch(await linkOf(shown), { signal })
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')])
      } finally {
        await stop(shown)
      }
    })
  })

  it('restarts on a change with npm run dev, and keeps the cluster', { timeout: LONG_MS }, async () => {
    const program = start('npm', ['run', 'dev'], inside(project))
    await running(program, project, async (client, signal, output) => {
      await messageOf(client, signal)
      const { metadata } = await client.get(resource, key)
      const file = join(project, 'src/operator.ts')
      const text = await readFile(file, 'utf8')
      // As editors save: directly, or by renaming a new file, more than once.
      for (const [index, save] of [writeFile, renameOver, renameOver, writeFile].entries()) {
        await save(file, text.replace('message: spec.message }', `message: spec.message + ' ${index}' }`))
        await until(signal, async () => (await messageOf(client, signal)) === `good morning ${index}`)
      }
      // A sample that is rejected is reported, and the operator goes on.
      const sample = join(project, `samples/${kind.toLowerCase()}.yaml`)
      const valid = await readFile(sample, 'utf8')
      await writeFile(sample, valid.replace('good morning', '""'))
      await until(signal, async () => output().includes('the sample is not applied'))
      await client.patch(resource, key, { type: 'merge', patch: { spec: { message: 'good evening' } } })
      await until(signal, async () => (await messageOf(client, signal))?.startsWith('good evening') === true)
      await writeFile(sample, valid)
      expect((await client.get(resource, key)).metadata.uid).toBe(metadata.uid)
    })
  })

  if (options.length > 0) {
    it('registers a mutating webhook that is added', { timeout: LONG_MS }, async () => {
      const file = join(project, 'src/webhooks.ts')
      const text = await readFile(file, 'utf8')
      await writeFile(file, withMutation(text, kind))
      await succeed('npm', ['run', 'generate'], inside(project))
      expect(await readFile(join(project, 'chart/files/webhooks.yaml'), 'utf8')).toContain('path: /mutate')
      await succeed('npm', ['run', 'check'], inside(project))
      await running(start('npm', ['start'], inside(project)), project, async (client, signal, output) => {
        await until(signal, async () => (await client.get(resource, key)).metadata.labels?.admitted === 'true')
        expect(output()).not.toMatch(/WARN|ERROR|404/)
      })
    })
  }

  async function messageOf(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
    let message: string | undefined
    await until(signal, async () => {
      message = (await client.get(ConfigMaps, key)).data?.message
      return message !== undefined
    })
    return message
  }
})

/** The webhooks of the template, and one that adds a label. */
function withMutation(text: string, kind: string): string {
  const handler = '({ object }) => (object === undefined ? allow() : mutate({ ...object, metadata: labelled(object) }))'
  const labelled = `const labelled = ({ metadata }: ${kind}) => ({ ...metadata, labels: { ...metadata.labels, admitted: 'true' } })`
  return text
    .replace('deny, validatingWebhook', 'deny, mutate, mutatingWebhook, validatingWebhook')
    .replace(
      'export const webhooks = [',
      `${labelled}\nexport const webhooks = [\n  mutatingWebhook<${kind}>('/mutate', ${handler}, { for: ${kind}Resource }),`,
    )
}

/** Replaces a file as editors do that save by renaming. */
async function renameOver(file: string, text: string): Promise<void> {
  await writeFile(`${file}~`, text)
  await rename(`${file}~`, file)
}

/** The link to the console that a program prints. */
function linkOf(program: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    program.stderr?.on('data', (chunk) => {
      output += String(chunk)
      const link = /console: (http\S+)/.exec(output)?.[1]
      if (link !== undefined) resolve(link)
    })
    program.once('close', (code) => reject(new Error(`ended with ${code}: ${output}`)))
  })
}

/** Calls `check` with a client of the cluster that the program runs, then ends the program and everything it started. */
async function running(
  program: ChildProcess,
  project: string,
  check: (client: KubeClient, signal: AbortSignal, output: () => string) => Promise<void>,
): Promise<void> {
  const signal = AbortSignal.timeout(LONG_MS / 2)
  let output = ''
  const isReady = new Promise<void>((resolve, reject) => {
    const read = (chunk: unknown) => {
      output += String(chunk)
      if (output.includes('cluster is ready')) resolve()
    }
    program.stdout?.on('data', read)
    program.stderr?.on('data', read)
    program.once('close', (code) => reject(new Error(`ended with ${code}: ${output}`)))
  })
  try {
    await isReady
    const client = await connect({ kubeconfig: join(project, 'kubeconfig.yaml') })
    try {
      await check(client, signal, () => output)
    } finally {
      await client.close()
    }
  } catch (error) {
    throw new Error(`the program wrote: ${output}`, { cause: error })
  } finally {
    await stop(program)
  }
}

/** Waits until it is true; what does not exist yet is not. */
async function until(signal: AbortSignal, condition: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const isTrue = await condition().catch((error: unknown) => {
      if (!isApiError(error)) throw error
      return false
    })
    if (isTrue) return
    await setTimeout(100, undefined, { signal })
  }
}
