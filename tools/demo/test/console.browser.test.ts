/** The console of the demo, as a user sees it: every view, live, in both themes, on small screens, by keyboard. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@reeve/kube'
import { WebApps } from '@reeve/webapp'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  chromiumPath,
  isWiderThanScreen,
  openBrowser,
  openPage,
  picture,
  violations,
  WITHOUT_CHROMIUM,
} from './support/browser.ts'
import { type DemoProcess, startDemo } from './support/demo-process.ts'

if (chromiumPath === undefined) console.log(WITHOUT_CHROMIUM)

const ONE_ROW = 'document.querySelectorAll(".tbody .tr").length === 1'
const WEBAPP = '#/resource/webapp-operator/WebApp/default/shop'
const VIEWS = [
  { name: 'resources', hash: '#/resources', ready: '.tbody .tr' },
  { name: 'resource', hash: WEBAPP, ready: '.tree .node' },
  { name: 'reconciles', hash: '#/reconciles?only=writes', ready: '.tbody .tr' },
  { name: 'health', hash: '#/health', ready: '.chart canvas' },
  { name: 'plan', hash: '#/plan/webapp-operator/WebApp/default/shop', ready: 'textarea' },
  { name: 'releases', hash: '#/view/collector-operator/releases', ready: 'td' },
  { name: 'dynatrace', hash: '#/view/dynatrace-operator/dynatrace', ready: 'td' },
] as const

/** What can be clicked but not be reached by keyboard. Rows of tables are reached by arrow keys. */
const UNREACHABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((element) => element.tabIndex < 0 && element.closest('.tbody, .track') === null)
  .map((element) => element.outerHTML)`

/** Tables that show no more than a few rows, although the screen has room for them. */
const LOW_TABLES = `[...document.querySelectorAll('.tbody')].map(({ clientHeight }) => clientHeight)
  .filter((height) => height < 200)`

describe.skipIf(chromiumPath === undefined)('the console of the demo (skipped without Chromium)', () => {
  let folder: string
  let demo: DemoProcess
  let browser: Browser
  let link = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-browser-'))
    demo = startDemo([], { cwd: folder })
    let story = ''
    await demo.until((printed) => {
      story = printed
      return printed.includes('the samples are ready')
    })
    link = /console: (\S+)/.exec(story)?.[1] ?? ''
    browser = await openBrowser()
  }, 240_000)

  afterAll(async () => {
    await browser?.close()
    await demo?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const open = async (
    hash: string,
    ready: string,
    ...how: [{ width: number; height: number }?, ('dark' | 'light')?]
  ) => {
    const { page, problems } = await openPage(browser, ...how)
    await page.goto(link)
    await page.waitForSelector('.tbody .tr')
    await show(page, hash, ready)
    return { page, problems }
  }

  const show = async (page: Page, hash: string, ready: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await page.waitForSelector(ready)
  }

  it('opens by the printed link, and keeps the token out of the address', async () => {
    const { page, problems } = await open('#/resources', '.tbody .tr')
    expect(page.url()).not.toContain('token')
    await page.reload()
    await page.waitForSelector('.tbody .tr')
    expect(await page.evaluate('document.cookie')).toBe('')
    const names = await page.locator('.tbody .tr').allInnerTexts()
    for (const expected of ['shop', 'acme-logs', 'dynakube', 'edgeconnect']) {
      expect(
        names.some((text) => text.includes(expected)),
        expected,
      ).toBe(true)
    }
    await page.fill('#search', 'webapp shop')
    await page.waitForFunction(ONE_ROW)
    expect(page.url()).toContain('q=webapp')
    expect(problems).toEqual([])
    await page.context().close()
  })

  it.each([
    { theme: 'light', viewport: { width: 1280, height: 780 } },
    { theme: 'dark', viewport: { width: 1280, height: 780 } },
    { theme: 'light', viewport: { width: 420, height: 800 } },
    { theme: 'dark', viewport: { width: 420, height: 800 } },
  ] as const)('shows every view, accessible, $theme and $viewport.width pixels wide', async ({ theme, viewport }) => {
    const { page, problems } = await open('#/resources', '.tbody .tr', viewport, theme)
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(theme)
    for (const { name, hash, ready } of VIEWS) {
      await show(page, hash, ready)
      expect(await violations(page), name).toEqual([])
      expect(await isWiderThanScreen(page), name).toBe(false)
      expect(await page.evaluate(LOW_TABLES), name).toEqual([])
      await picture(page, `${name}${viewport.width < 720 ? '-narrow' : ''}${theme === 'dark' ? '-dark' : ''}`)
    }
    expect(problems).toEqual([])
    await page.context().close()
  })

  it('opens every view from its address, again after a reload, by the keyboard alone', async () => {
    const { page, problems } = await open('#/resources', '.tbody .tr')
    for (const { name, hash, ready } of VIEWS) {
      await show(page, hash, ready)
      const heading = await page.locator('main h1').innerText()
      await page.reload()
      await page.waitForSelector(ready)
      expect(await page.locator('main h1').innerText(), name).toBe(heading)
      expect(new URL(page.url()).hash, name).toBe(hash)
      await page.keyboard.press('Tab')
      expect(await page.evaluate('document.activeElement.textContent'), name).toBe('Skip to content')
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.activeElement.id'), name).toBe('main')
      await page.keyboard.press('Tab')
      expect(await page.evaluate('document.activeElement.closest("main") !== null'), name).toBe(true)
      expect(await page.evaluate(UNREACHABLE), name).toEqual([])
    }
    expect(problems).toEqual([])
    await page.context().close()
  })

  it('shows why a reconcile ran, what it wrote, field by field, and how long its stages took', async () => {
    const { page } = await open('#/reconciles?only=writes&q=shop', '.tbody .tr', undefined, 'dark')
    await page.locator('.tbody .tr', { hasText: 'create Deployment' }).first().click()
    const detail = page.locator('aside .reconcile')
    await detail.locator('.stages').waitFor()
    expect(await detail.innerText()).toContain('WebApp default/shop added')
    await detail.locator('details.write', { hasText: 'Deployment' }).first().locator('summary').click()
    expect(await detail.innerText()).toContain('spec.replicas')
    await page.keyboard.press('Escape')
    await picture(page, 'reconcile-dark')
    await page.context().close()
  })

  it('plans an edited resource without applying it, and plans nothing for the next reconcile', async () => {
    const { page } = await open('#/plan/webapp-operator/WebApp/default/shop', 'textarea')
    const yaml = await page.inputValue('textarea')
    await page.fill('textarea', yaml.replace(/replicas: \d+/, 'replicas: 7'))
    await page.click('button.primary')
    await page.locator('.plan .write', { hasText: 'Deployment' }).waitFor()
    expect(await page.locator('.plan').innerText()).toContain('spec.replicas')
    await picture(page, 'plan')
    await page.fill('textarea', 'kind: Other')
    await page.click('button.primary')
    await page.locator('.notice.bad').waitFor()
    await show(page, WEBAPP, '.tree .node')
    await page.getByRole('button', { name: 'Plan it' }).click()
    await page.locator('.plan .notice.good').waitFor()
    expect(await page.locator('.plan').innerText()).toContain('Nothing would be written')
    await page.context().close()
  })

  it('follows the cluster without a reload', async () => {
    const { page } = await open(WEBAPP, '.tree .node')
    const client = await connect({ kubeconfig: join(folder, '.reeve/kubeconfig') })
    const key = { namespace: 'default', name: 'shop' }
    await client.patch(WebApps, key, { type: 'merge', patch: { spec: { replicas: 4 } } })
    await page.locator('.tree', { hasText: '4 of 4 available' }).waitFor()
    await page.locator('.connection', { hasText: 'Live' }).waitFor()
    await client.close()
    await page.context().close()
  })

  it('can be used by keyboard', async () => {
    const { page } = await open('#/resources', '.tbody .tr')
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Reconciles' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Resources' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('shop')
    await page.waitForFunction(ONE_ROW)
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.locator('.tr.active').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Owned objects' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.context().close()
  })
})
