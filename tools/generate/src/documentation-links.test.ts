/** Checks the documentation: relative links, headings and the layout table. */
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MADE_OR_FETCHED = new Set(['node_modules', 'dist', '.reeve', '.git'])

/** Code blocks and code spans contain neither links nor headings. */
async function prose(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, 'code')
}

/** The fragment of a URL that refers to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

async function anchorsIn(file: string): Promise<readonly string[]> {
  const text = (await readFile(file, 'utf8')).replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

async function problemWith(target: string, file: string): Promise<string | undefined> {
  const [path = '', anchor] = target.split('#')
  const resolved = path === '' ? file : join(dirname(file), path)
  const link = `${relative(ROOT, file)} → ${target}`
  if (!existsSync(resolved)) return link
  return anchor !== undefined && !(await anchorsIn(resolved)).includes(anchor) ? link : undefined
}

test('every relative link in a page points to an existing file and heading', async () => {
  const dead: string[] = []
  let checked = 0
  for await (const page of glob('**/*.md', { cwd: ROOT, exclude: (name) => MADE_OR_FETCHED.has(name) })) {
    const file = join(ROOT, page)
    for (const [, target = ''] of (await prose(file)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      checked++
      const problem = await problemWith(target, file)
      if (problem !== undefined) dead.push(problem)
    }
  }
  expect(dead).toEqual([])
  expect(checked).toBeGreaterThan(50)
})

test('the layout in docs/architecture.md lists every package, operator and tool, and nothing else', async () => {
  const page = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8')
  const [, section = ''] = /^## Layout\n(.*?)^## /ms.exec(page) ?? []
  const layout = section.matchAll(/^\| `([^`]+)` \|/gm)
  const folders: string[] = []
  for await (const manifest of glob(['{packages,operators,tools}/*/package.json', '{bench,examples}/package.json'], {
    cwd: ROOT,
  })) {
    folders.push(dirname(manifest))
  }
  expect([...layout].map(([, folder = '']) => folder).sort()).toEqual(folders.sort())
})
