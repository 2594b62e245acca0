/** Runs the code of the documentation as it stands, the way a reader would. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { sleep } from '@reeve/http'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  connect,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
} from '@reeve/kube'
import { runInMemory } from '@reeve/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)
let folder: string
let cluster: EmbeddedCluster
let client: KubeClient
let kubeconfig: string
/** The files of the tutorial. */
let tutorial: readonly string[]

beforeAll(async () => {
  // Below the root, so that the examples find the packages as a reader's would.
  await mkdir(join(root, '.reeve'), { recursive: true })
  folder = await mkdtemp(join(root, '.reeve', 'documentation-'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  cluster = await startEmbeddedCluster()
  kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  client = await connect({ kubeconfig })
  tutorial = await extract('docs/writing-an-operator.md')
})
afterAll(async () => {
  await client.close()
  await cluster.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Writes the code blocks that name a file, and returns their names. */
async function extract(page: string): Promise<readonly string[]> {
  const text = await readFile(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)]
  for (const [, name = '', code = ''] of blocks) await writeFile(join(folder, name), code)
  return blocks.map(([, name = '']) => name)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(20_000)
  while (!(await condition())) await sleep(50, { signal: deadline })
}

const textOf = (name: string) =>
  client.get(ConfigMaps, { namespace: 'default', name }).then(
    ({ data }) => data?.text,
    (error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    },
  )

/** Runs a program until `check` is through, then ends it as Ctrl-C does. */
async function whileRunning(
  program: string,
  env: NodeJS.ProcessEnv,
  check: () => Promise<void>,
): Promise<number | null> {
  const child = spawn(process.execPath, [program], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  try {
    await check()
  } catch (error) {
    throw new Error(`${program} wrote: ${errors}`, { cause: error })
  } finally {
    child.kill('SIGINT')
  }
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}

describe.concurrent('docs/writing-an-operator.md', () => {
  it('has an operator that tests itself on a simulated clock', async () => {
    expect(tutorial).toEqual(['greeting.ts', 'greeter.ts', 'main.ts', 'cli.ts', 'hello.yaml', 'try.ts', 'features.ts'])
    const { stdout } = await run(process.execPath, [join(folder, 'try.ts')], { cwd: root })
    expect(stdout).toBe('all good\n')
  })

  it('has a command line that prints the plan shown on the page', async () => {
    const page = await readFile(join(root, 'docs/writing-an-operator.md'), 'utf8')
    const [, shown] = /^\$ .*cli\.ts plan .*\n([\s\S]*?)^```$/m.exec(page) ?? []
    const args = [join(folder, 'cli.ts'), 'plan', '-f', join(folder, 'hello.yaml'), '--offline']
    // There are changes: exit code 2, which is a rejection here.
    await expect(run(process.execPath, args, { cwd: root })).rejects.toMatchObject({ code: 2, stdout: shown })
  })

  it('has components that wait for the world outside, and clean up there', async () => {
    const known = new Map<string, string>()
    const forgotten: string[] = []
    const { createGreeter } = await import(join(folder, 'features.ts'))
    const { GreetingCrd } = await import(join(folder, 'greeting.ts'))
    const translator = {
      translate: async (text: string) => known.get(text),
      forget: async (text: string) => void forgotten.push(text),
    }
    const greeter = { ...createGreeter(translator), crds: () => [crdManifest(GreetingCrd)] }
    await using world = await runInMemory(greeter)
    const greetings: Resource<KubeObject & { readonly spec: object }> = GreetingCrd.resource('v1')
    await world.apply(greetings, { metadata: { name: 'hello' }, spec: { text: 'hello', echo: true } })
    await world.pass('1s')
    const text = async (name: string) => (await world.find(ConfigMaps, name))?.data?.text
    expect([await text('hello'), await text('hello-echo')]).toEqual([undefined, undefined])
    known.set('hello', 'bonjour')
    await world.settle()
    expect([await text('hello'), await text('hello-echo')]).toEqual(['bonjour', 'bonjour'])
    await world.delete(greetings, 'hello')
    await world.settle()
    expect(forgotten).toEqual(['hello'])
    expect(await world.find(greetings, 'hello')).toBeUndefined()
  })

  it('has an operator that runs against a cluster, heals and cleans up', async () => {
    const code = await whileRunning(join(folder, 'main.ts'), { KUBECONFIG: kubeconfig }, async () => {
      const resource = { apiVersion: 'example.com/v1', kind: 'Greeting' }
      await until(() =>
        client.resourceFor(resource).then(
          () => true,
          () => false,
        ),
      )
      const greetings = await client.resourceFor(resource)
      const hello = parse(await readFile(join(folder, 'hello.yaml'), 'utf8')) as KubeObject & Record<string, unknown>
      await until(() =>
        client.create(greetings, hello).then(
          () => true,
          () => false,
        ),
      )
      await until(
        async () => (await textOf('hello')) === 'GOOD MORNING' && (await textOf('hello-echo')) === 'GOOD MORNING',
      )
      await client.delete(ConfigMaps, { namespace: 'default', name: 'hello' })
      await until(async () => (await textOf('hello')) === 'GOOD MORNING')
      await client.patch(
        greetings,
        { namespace: 'default', name: 'hello' },
        { type: 'merge', patch: { spec: { echo: false } } },
      )
      await until(async () => (await textOf('hello-echo')) === undefined)
      await client.delete(greetings, { namespace: 'default', name: 'hello' })
      await until(async () => (await textOf('hello')) === undefined)
    })
    expect(code).toBe(0)
  })
})

describe.concurrent('README.md', () => {
  it('has an operator in 25 lines that works', async () => {
    const text = await readFile(join(root, 'README.md'), 'utf8')
    const code = /^```ts\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? ''
    expect(code.split('\n').length).toBeLessThan(35)
    await writeFile(join(folder, 'readme.ts'), code)
    const source = `import { defineCrd } from '@reeve/crd'\nimport { Type } from 'typebox'\n${/const v1 = [\s\S]*?^\}\nexport const GreetingCrd[\s\S]*?^\}\)$/m.exec(code)?.[0] ?? ''}\n`
    await writeFile(join(folder, 'readme-crd.ts'), source)
    const { GreetingCrd } = await import(join(folder, 'readme-crd.ts'))
    // A fresh cluster: the tutorial's resource has the same name and another schema.
    await using own = await startEmbeddedCluster()
    const KUBECONFIG = join(folder, 'readme.kubeconfig')
    await own.writeKubeconfig(KUBECONFIG)
    const owner = await connect({ kubeconfig: KUBECONFIG })
    await owner.create(CustomResourceDefinitions, crdManifest(GreetingCrd))
    const code0 = await whileRunning(join(folder, 'readme.ts'), { KUBECONFIG }, async () => {
      const resource = { apiVersion: 'example.com/v1', kind: 'Greeting' }
      await until(() =>
        owner.resourceFor(resource).then(
          () => true,
          () => false,
        ),
      )
      const greetings = await owner.resourceFor(resource)
      const hello = { ...resource, metadata: { name: 'hello', namespace: 'default' }, spec: { text: 'hi' } }
      await until(() =>
        owner.create(greetings, hello).then(
          () => true,
          () => false,
        ),
      )
      await until(async () => {
        const { items } = await owner.listAll(ConfigMaps, { labelSelector: 'app=greeting' })
        return items[0]?.data?.text === 'hi'
      })
    })
    expect(code0).toBe(0)
    await owner.close()
  })
})
