/** The page of the simulated tenant, which has the components of the console. */
import { startTenantSimulator, type TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, isWiderThanScreen, openBrowser, openPage, picture, violations } from './support/browser.ts'

const TENANT = 'abc12345'

describe.skipIf(chromiumPath === undefined)('the page of the simulated tenant (skipped without Chromium)', () => {
  let simulator: TenantSimulator
  let browser: Browser

  beforeAll(async () => {
    browser = await openBrowser()
    simulator = await startTenantSimulator({ tenants: [{ id: TENANT }] })
  })
  afterAll(async () => {
    await browser?.close()
    await simulator?.close()
  })

  /** A call as an operator makes it. */
  const call = (path: string) =>
    simulator.respond({
      method: 'GET',
      url: new URL(`${simulator.url(TENANT)}${path}`),
      headers: { authorization: `Api-Token ${simulator.tenant(TENANT).tokens.get('apiToken')?.value}` },
    })

  it('shows calls as they come, and faults in words', async () => {
    const { page, problems } = await openPage(browser)
    await page.goto(`https://${simulator.authority}/`)
    const calls = page.getByRole('region', { name: 'Table: Calls' })
    await page.getByText('No operator has called yet.').waitFor()
    await call('/v1/deployment/installer/agent/connectioninfo')
    await calls.getByText('agent-connection-info').waitFor()
    await page.getByLabel('What').selectOption({ label: '503 in JSON' })
    await page.getByLabel('Call', { exact: true }).selectOption('agent-connection-info')
    await page.getByLabel('How many calls').fill('3')
    await page.getByRole('button', { name: 'Inject fault' }).click()
    await page.getByText('status 503 for agent-connection-info, 3 times').waitFor()
    await call('/v1/deployment/installer/agent/connectioninfo')
    await calls.getByText('fault: status').waitFor()
    await call('/v2/settings/objects?schemaIds=builtin:cloud.kubernetes')
    await calls.getByText('settings-list').waitFor()
    await picture(page, 'simulator')
    expect(await page.innerText('body')).not.toContain('"kind"')
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('None: every call gets a normal response.').waitFor()
    expect(problems).toEqual([])
    await page.context().close()
  })

  it('says which field of a fault is wrong', async () => {
    const { page } = await openPage(browser)
    await page.goto(`https://${simulator.authority}/`)
    await page.getByRole('button', { name: 'Inject fault' }).waitFor()
    await page.evaluate('document.querySelector("option").value = "earthquake"')
    await page.getByRole('button', { name: 'Inject fault' }).click()
    expect(await page.getByRole('alert').innerText()).toContain('preset: must be one of')
    await page.context().close()
  })

  it.each([
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 1280 },
    { theme: 'light', width: 420 },
    { theme: 'dark', width: 420 },
  ] as const)('is accessible, $theme and $width pixels wide', async ({ theme, width }) => {
    const fault = simulator.faults.add({ kind: 'rate-limit', retryAfterSeconds: 30, operation: 'token-lookup' })
    await call('/v1/deployment/installer/agent/unix/default/latest/metainfo')
    const { page, problems } = await openPage(browser, { width, height: 800 }, theme)
    await page.goto(`https://${simulator.authority}/`)
    await page.getByText('status 429 with Retry-After 30 s').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await isWiderThanScreen(page)).toBe(false)
    await picture(page, `simulator-${theme}-${width}`)
    expect(problems).toEqual([])
    fault.remove()
    await page.context().close()
  })
})
