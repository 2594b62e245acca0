/** The packages as users get them: packed, installed outside the repository, type-checked, and run by several Nodes. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageProblems, publicPackages, REPOSITORY } from '@reeve/publish'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printed, run, start, stop, succeed } from '../src/run.ts'
import { hasNodes, installNode } from './support/nodes.ts'
import { packed, removePacked } from './support/packed.ts'
// In this file because it uses the same build: files run at the same time.
import './suites/created.ts'
import './suites/release.ts'
import './suites/tutorial.ts'

/** Building, installing and compiling, on a machine that has other things to do. */
const LONG_MS = 900_000

let folder: string
let project: string
const nodes = new Map<number, string>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-outside-'))
  project = join(folder, 'project')
  await mkdir(project)
  const archives = await packed()
  const { devDependencies } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'))
  const { dependencies } = JSON.parse(await readFile(join(REPOSITORY, 'packages/crd/package.json'), 'utf8'))
  const manifest = {
    name: 'outside',
    private: true,
    type: 'module',
    dependencies: {
      ...Object.fromEntries(archives.map(({ name, archive }) => [name, `file:${archive}`])),
      typebox: dependencies.typebox,
    },
    devDependencies: { '@types/node': devDependencies['@types/node'], typescript: devDependencies.typescript },
  }
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  await succeed('npm', ['install', '--no-audit', '--no-fund'], { cwd: project })
  const page = await readFile(join(REPOSITORY, 'docs/writing-an-operator.md'), 'utf8')
  for (const [, name = '', code = ''] of page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)) {
    await writeFile(join(project, name), code)
  }
  if (hasNodes) for (const major of [20, 22, 24]) nodes.set(major, await installNode(major, folder))
}, LONG_MS)
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await removePacked()
})

describe('the packed packages', () => {
  it('satisfy publint and "Are the types wrong?"', { timeout: LONG_MS }, async () => {
    const archives = await packed()
    expect(archives.length).toBeGreaterThan(10)
    for (const one of archives) expect(await packageProblems(one)).toEqual([])
  })

  it('contain no tests and no sources', { timeout: LONG_MS }, async () => {
    for (const { archive } of await packed()) {
      const files = (await succeed('tar', ['--list', '--file', archive], { cwd: folder })).trim().split('\n')
      expect(files).toContain('package/LICENSE')
      expect(files).toContain('package/README.md')
      // The template of new projects is both.
      const own = files.filter((file) => !file.startsWith('package/template/'))
      expect(own.filter((file) => /\.test\.|\/(?:fuzz|test|src)\//.test(file))).toEqual([])
    }
  })
})

describe('a project outside the repository', () => {
  it('type-checks the tutorial, the declarations of the packages included', { timeout: LONG_MS }, async () => {
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: false,
    }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    await succeed('npx', ['tsc', '--project', '.'], { cwd: project })
    await writeFile(
      join(project, 'wrong.ts'),
      "import { greeter } from './greeter.ts'\nexport const wrong: number = greeter.name\n",
    )
    const { stdout } = await run('npx', ['tsc', '--project', '.'], { cwd: project })
    await rm(join(project, 'wrong.ts'))
    expect(stdout).toContain("wrong.ts(2,14): error TS2322: Type 'string' is not assignable to type 'number'.")
  })

  it.skipIf(!hasNodes)(
    'prints which Node the command needs (skipped without other versions of Node)',
    { timeout: LONG_MS },
    async () => {
      const options = { cwd: project, path: nodes.get(20) ?? '' }
      expect(await run('node', [join('node_modules', '.bin', 'reeve'), '--help'], options)).toMatchObject({
        code: 78,
        stderr: expect.stringMatching(/reeve needs Node 22\.19 or newer; this is 20\./),
      })
    },
  )

  describe.skipIf(!hasNodes).each([22, 24])('with Node %i (skipped without other versions of Node)', (major) => {
    const options = () => ({ cwd: project, path: nodes.get(major) ?? '' })

    it('imports every entry point', { timeout: LONG_MS }, async () => {
      const names = (await publicPackages()).flatMap(({ manifest: { name, exports = {} } }) =>
        Object.keys(exports).map((subpath) => join(name, subpath)),
      )
      expect(names.length).toBeGreaterThan(30)
      const code = `for (const name of ${JSON.stringify(names)}) await import(name); console.log('imported')`
      await writeFile(join(project, 'imports.mjs'), code)
      expect(await succeed('node', ['imports.mjs'], options())).toBe('imported\n')
    })

    it("runs the tutorial's test and its plan", { timeout: LONG_MS }, async () => {
      expect(await succeed('node', ['--version'], options())).toContain(`v${major}.`)
      expect(await succeed('node', ['try.ts'], options())).toBe('all good\n')
      expect(await run('node', ['cli.ts', 'plan', '-f', 'hello.yaml', '--offline'], options())).toMatchObject({
        code: 2,
        stdout: expect.stringContaining('Plan: 3 to create, 0 to change, 0 to remove.'),
      })
    })

    it("runs the tutorial's operator on the embedded cluster, as two processes", { timeout: LONG_MS }, async () => {
      const kubeconfig = join(folder, `kubeconfig-${major}`)
      const cluster = start('npx', ['reeve', 'cluster', '--kubeconfig', kubeconfig], options())
      try {
        await printed(cluster, 'cluster is ready')
        const operator = start('node', ['main.ts'], { ...options(), env: { KUBECONFIG: kubeconfig } })
        let code: number | null
        try {
          await writeFile(join(project, 'applied.ts'), APPLIED)
          expect(await succeed('node', ['applied.ts', kubeconfig], options())).toBe('GOOD MORNING\n')
        } finally {
          code = await stop(operator)
        }
        expect(code).toBe(0)
      } finally {
        await stop(cluster)
      }
    })
  })
})

/** Applies the example of the page as soon as the operator has created the CRD, and prints what became of it. */
const APPLIED = `
import { setTimeout } from 'node:timers/promises'
import { ConfigMaps, connect, isNotFound } from '@reeve/kube'
import { Greetings } from './greeting.ts'

const client = await connect({ kubeconfig: process.argv[2] })
const signal = AbortSignal.timeout(300_000)
async function whenFound<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!isNotFound(error)) throw error
      await setTimeout(100, undefined, { signal })
    }
  }
}
await whenFound(() =>
  client.create(Greetings, {
    apiVersion: 'example.com/v1',
    kind: 'Greeting',
    metadata: { name: 'hello', namespace: 'default' },
    spec: { text: 'good morning', tone: 'Loud', echo: true },
  }),
)
console.log((await whenFound(() => client.get(ConfigMaps, { namespace: 'default', name: 'hello' }))).data?.text)
await client.close()
`
