/** The page that `reeve explore --report html` writes, opened from disk. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, isWiderThanScreen, openBrowser, openPage, picture, violations } from './support/browser.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

describe.skipIf(chromiumPath === undefined)('the report of an exploration (skipped without Chromium)', () => {
  let folder: string
  let file: string
  let browser: Browser

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-report-'))
    file = join(folder, 'report.html')
    const module = 'packages/simulation/test/support/too-early.ts'
    const options = ['--parallel', '1', '--pattern', 'T1', '--points', '6', '--report', 'html', '--report-file', file]
    const command = ['packages/cli/bin/reeve.js', 'explore', '--module', module, ...options]
    const explored = await run(process.execPath, command, { cwd: root }).then(
      () => 0,
      (error: { code: number }) => error.code,
    )
    expect(explored).toBe(1)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('is one file that loads nothing', async () => {
    const html = await readFile(file, 'utf8')
    expect(html).toMatch(/content-security-policy" content="default-src 'none'; script-src 'sha256-/)
    expect(html).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)=/)
  })

  it.each(['light', 'dark'] as const)('shows a divergence with trace, end states and difference, %s', async (theme) => {
    const { page, problems } = await openPage(browser, { width: 1280, height: 900 }, theme)
    await page.goto(pathToFileURL(file).href)
    await page.getByRole('heading', { name: 'Exploration' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.locator('a.line').first().click()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    const text = await page.innerText('main')
    expect(text).toContain('outside gift')
    expect(text).toContain('The object does not exist.')
    expect(text).toContain('npm run explore -- --module')
    expect(await page.locator('.trace .fault').count()).toBeGreaterThan(0)
    expect(await violations(page)).toEqual([])
    if (theme === 'light') await picture(page, 'report')
    expect(await isWiderThanScreen(page)).toBe(false)
    expect(problems).toEqual([])
    await page.context().close()
  })
})
