import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectFiles, writeProject } from './project-files.ts'

const names = { group: 'shop.example.org', kind: 'WebShop', plural: 'webshops', name: 'shopkeeper' }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-init-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('nothing of the template is left in a project, with or without webhooks', async () => {
  for (const hasWebhooks of [true, false]) {
    const files = await projectFiles(names, { hasWebhooks })
    const paths = files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining([
        '.dockerignore',
        '.github/workflows/ci.yml',
        '.gitignore',
        'Dockerfile',
        'README.md',
        'chart/Chart.yaml',
        'chart/crds/webshops.yaml',
        'dev/start.ts',
        'exploration/webshop.ts',
        'package.json',
        'src/webshop.ts',
        'test/webshop.test.ts',
        'tsconfig.json',
      ]),
    )
    expect(paths.includes('src/webhooks.ts')).toBe(hasWebhooks)
    const text = files.map((file) => `${file.path}\n${file.text}`).join('\n')
    expect(text).not.toMatch(/sprocket|template\.example|0\.0\.0-reeve|webhooks:(begin|end)/i)
    expect(text.includes('validatingWebhook')).toBe(hasWebhooks)
  }
})

test('a project asks for the libraries that the packages are made with', async () => {
  const manifest = async (path: string) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'))
  const [repository, crd, cli, files] = await Promise.all([
    manifest('../../../../package.json'),
    manifest('../../../crd/package.json'),
    manifest('../../package.json'),
    projectFiles(names),
  ])
  const project = JSON.parse(files.find(({ path }) => path === 'package.json')?.text ?? '')
  expect(project.dependencies).toMatchObject({
    '@reeve/runtime': cli.version,
    typebox: `^${crd.dependencies.typebox}`,
  })
  expect(project.devDependencies).toMatchObject({
    typescript: `^${repository.devDependencies.typescript}`,
    '@types/node': `^${repository.devDependencies['@types/node']}`,
    yaml: `^${crd.dependencies.yaml}`,
  })
})

test('what exists is never overwritten', async () => {
  await writeFile(join(folder, 'notes.txt'), 'mine')
  await expect(writeProject(folder, [{ path: 'notes.txt', text: 'theirs' }])).rejects.toThrow('is not empty')
  expect(await readdir(folder)).toEqual(['notes.txt'])
  expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine')
})

test('the actions of the workflow are pinned, to those that this repository uses itself', async () => {
  const files = await projectFiles(names)
  const workflow = files.find(({ path }) => path === '.github/workflows/ci.yml')?.text ?? ''
  const own = await readFile(new URL('../../../../.github/workflows/ci.yml', import.meta.url), 'utf8')
  const actions = [...workflow.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action)
  expect(actions).toHaveLength(2)
  for (const action of actions) {
    expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    expect(own).toContain(`uses: ${action}`)
  }
})
