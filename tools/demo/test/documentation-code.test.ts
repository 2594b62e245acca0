/**
 * Checks the types of all TypeScript in the documentation, and runs the programs among it.
 *
 * A block is a separate module. An HTML comment `<!-- code … -->` right before it has what readers can imagine and the
 * compiler cannot, such as `declare const signal: AbortSignal`; it is put in front of the block. Blocks with `file=name`
 * are modules of one program per page and have their own tests; blocks marked `run` are run here.
 */
import { execFile } from 'node:child_process'
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const MADE_OR_FETCHED = new Set(['node_modules', 'dist', '.reeve', '.git'])
const run = promisify(execFile)

interface CodeBlock {
  readonly page: string
  /** The name of its file, unique on its page. */
  readonly name: string
  readonly isProgram: boolean
  readonly code: string
}

let folder: string
let blocks: readonly CodeBlock[]

const BLOCK = /(?:^<!-- code\n([\s\S]*?)^-->\n+)?^```ts(?: ([^\n]*))?\n([\s\S]*?)^```$/gm

async function readBlocks(page: string): Promise<readonly CodeBlock[]> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(BLOCK)].map(([, context = '', info = '', code = ''], index) => ({
    page,
    name: /file=(\S+)/.exec(info)?.[1] ?? `block-${index + 1}.ts`,
    isProgram: info.split(' ').includes('run'),
    code: `${context}${code}\nexport {}\n`,
  }))
}

const pathOf = ({ page, name }: CodeBlock) => join(folder, page.replaceAll('/', '-'), name)

beforeAll(async () => {
  // Below the root, so that the examples find the packages as a reader's would.
  await mkdir(join(root, '.reeve'), { recursive: true })
  folder = await mkdtemp(join(root, '.reeve', 'documentation-code-'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const found: CodeBlock[] = []
  const pages = glob('**/*.md', { cwd: root, exclude: (name) => MADE_OR_FETCHED.has(name) })
  for await (const page of pages) found.push(...(await readBlocks(page)))
  blocks = found
  for (const block of blocks) {
    await mkdir(join(pathOf(block), '..'), { recursive: true })
    await writeFile(pathOf(block), block.code)
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('code in the documentation is found in the README, in the pages and in the READMEs of packages', () => {
  const pages = new Set(blocks.map(({ page }) => page))
  expect([...pages]).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/exploration.md',
      'docs/writing-an-operator.md',
      'packages/kube/README.md',
    ]),
  )
})

it('code in the documentation is accepted by the compiler as it stands', { timeout: 120_000 }, async () => {
  const config = {
    extends: '../../tsconfig.json',
    // An example ends where the reader continues.
    compilerOptions: { noUnusedLocals: false },
    include: ['.', '../../packages/http/src/**/*.d.ts'],
    exclude: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  // Several checkers, or a collection of garbage, take twice the processor time, which other suites need.
  const options = { cwd: root, env: { ...process.env, GOGC: 'off' } }
  const errors = await run(process.execPath, [tsc, '-p', folder, '--checkers', '1'], options).then(
    () => '',
    ({ stdout }: { readonly stdout: string }) => stdout,
  )
  expect(errors).toBe('')
})

it('code in the documentation runs where it is a program', { timeout: 120_000 }, async () => {
  await using cluster = await startEmbeddedCluster()
  const kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const programs = blocks.filter(({ isProgram }) => isProgram)
  expect(programs.length).toBeGreaterThan(5)
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  const outputs = programs.map(async (program) => {
    const { stderr } = await run(process.execPath, [pathOf(program)], { cwd: folder, env, timeout: 60_000 })
    return [`${program.page} ${program.name}`, stderr]
  })
  expect(await Promise.all(outputs)).toEqual(programs.map(({ page, name }) => [`${page} ${name}`, '']))
})

it('the command line of the README of the package greets', async () => {
  const main = join(folder, 'packages-cli-README.md', 'main.ts')
  const { stdout } = await run(process.execPath, [main, 'greet', '--name', 'you'])
  expect(stdout).toBe('hello you\n')
})
