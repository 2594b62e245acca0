/** The workflows run code of others only in versions that were chosen, and publish only under their own repository. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { absolutePath } from './generated-files.ts'

const files = globSync('.github/workflows/*.yml', { cwd: absolutePath('') })
const texts = files.map((file) => readFileSync(absolutePath(file), 'utf8'))

it('workflows pin every action by its commit', () => {
  const used = texts.flatMap((text) => [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action))
  expect(used.length).toBeGreaterThan(10)
  const loose = used.filter((action) => !action.startsWith('./') && !/@[0-9a-f]{40}$/.test(action))
  expect(loose).toEqual([])
})

it('workflows push only to names below the repository that they run in', () => {
  const hosts = texts.flatMap((text) => text.match(/\b(?:[a-z0-9-]+\.)+(?:io|com|org|dev)\b/g) ?? [])
  expect([...new Set(hosts)]).toEqual(['ghcr.io'])
  const release = texts.join('\n')
  expect(release.match(/\$REGISTRY\/(?!\$REPOSITORY\/)/g)).toBeNull()
  expect(release).toMatch(/repository=\$\{GITHUB_REPOSITORY,,\}/)
})

it('workflows give rights to write to single jobs only', () => {
  expect(texts.length).toBeGreaterThan(1)
  for (const text of texts) expect(text).toMatch(/^permissions:\n {2}contents: read$/m)
})
