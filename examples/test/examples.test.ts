/** Runs every example; each is a program that fails when something is not as it says. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const FOLDER = fileURLToPath(new URL('..', import.meta.url))
const examples = globSync('*.ts', { cwd: FOLDER }).toSorted()

describe('examples', () => {
  it('are all listed in the README', async () => {
    const text = await readFile(`${FOLDER}/README.md`, 'utf8')
    const listed = [...text.matchAll(/\]\(([a-z-]+\.ts)\)/g)].map(([, name = '']) => name)
    expect(listed.toSorted()).toEqual(examples)
  })

  it.each(examples)('%s runs', { timeout: 240_000 }, async (example) => {
    await import(`${FOLDER}/${example}`)
  })
})
