/** The console when things go wrong or grow large: expired sessions, restarted operators, 10,000 resources. */
import { type ConsoleModel, ConsoleServer, loadPage, type PageFiles } from '@reeve/console'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, openBrowser, openPage, violations } from './support/browser.ts'
import { openCrowd } from './support/crowd.ts'
import { openGuardedConsole } from './support/guarded-console.ts'

const FRAMES = 240

/** Of one frame: 6,000 pixels or 188 rows in a second, which is faster than anybody reads. */
const WHEEL_PX = 100

describe.skipIf(chromiumPath === undefined)('the console (skipped without Chromium)', () => {
  let browser: Browser
  let page: PageFiles

  beforeAll(async () => {
    ;[browser, page] = await Promise.all([openBrowser(), loadPage()])
  }, 120_000)
  afterAll(() => browser?.close())

  /** Starts a console; what is returned stops it. */
  const serve = async (model: ConsoleModel, port = 0) => {
    const server = new ConsoleServer({ model, page, port })
    const stop = new AbortController()
    const running = server.run(stop.signal)
    return {
      link: await server.link(),
      port: (await server.address()).port,
      stop: async () => {
        stop.abort()
        await running
      },
    }
  }

  it('asks for a token when the operator was started again, and goes on with the new one', async () => {
    await using crowd = await openCrowd(3)
    const first = await serve(crowd.model)
    const { page: tab } = await openPage(browser)
    await tab.goto(first.link)
    await tab.locator('.connection', { hasText: 'Live' }).waitFor()
    await first.stop()
    await tab.locator('.connection', { hasText: 'Reconnecting' }).waitFor()
    expect(await tab.locator('.tbody .tr').count()).toBe(3)
    const second = await serve(crowd.model, first.port)
    await tab.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await violations(tab)).toEqual([])
    await tab.fill('#token', 'wrong')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.locator('.notice.bad').waitFor()
    await tab.fill('#token', /#token=(.+)/.exec(second.link)?.[1] ?? '')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.locator('.connection', { hasText: 'Live' }).waitFor()
    await tab.context().close()
    await second.stop()
  })

  it('asks for a token when the session has ended', async () => {
    await using crowd = await openCrowd(3)
    const { link, stop } = await serve(crowd.model)
    const { page: tab } = await openPage(browser)
    await tab.goto(link)
    await tab.waitForSelector('.tbody .tr')
    await tab.context().clearCookies()
    await tab.reload()
    await tab.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await tab.innerText('.notice')).toContain('open the link that the operator printed')
    await tab.context().close()
    await stop()
  })

  it('says what to do about a token without rights, and opens with one that has them', async () => {
    await using guarded = await openGuardedConsole()
    const { page: tab, problems } = await openPage(browser)
    await tab.goto(`${guarded.link}#/health`)
    await signIn(tab, 'nonsense')
    await tab.getByText('kubectl create token').waitFor()
    await signIn(tab, await guarded.tokenOf('stranger'))
    await tab.getByText('--clusterrole=<release>-console-reader').waitFor()
    expect(await violations(tab)).toEqual([])
    await signIn(tab, await guarded.tokenOf('viewer'))
    await tab.getByRole('heading', { name: 'Health' }).waitFor()
    expect(problems).toEqual([])
    await tab.context().close()
  })

  it('asks for another token when the token has expired, and goes on where it was', async () => {
    await using guarded = await openGuardedConsole()
    const { page: tab } = await openPage(browser)
    await tab.goto(guarded.link)
    await signIn(tab, await guarded.tokenOf('viewer'))
    await tab.locator('.connection', { hasText: 'Live' }).waitFor()
    guarded.passHours(2)
    await tab.getByRole('link', { name: 'Health' }).click()
    await tab.getByText('kubectl create token').waitFor()
    await signIn(tab, await guarded.tokenOf('viewer'))
    await tab.getByRole('heading', { name: 'Health' }).waitFor()
    await tab.locator('.connection', { hasText: 'Live' }).waitFor()
    await tab.context().close()
  })

  it('keeps nothing of what it showed when the user signs out', async () => {
    await using crowd = await openCrowd(3)
    const { link, stop } = await serve(crowd.model)
    const { page: tab } = await openPage(browser)
    await tab.goto(link)
    await tab.locator('.tbody .tr', { hasText: 'one-0002' }).waitFor()
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByText('You have signed out.').waitFor()
    expect(await tab.innerText('body')).not.toContain('one-0002')
    await tab.reload()
    await tab.getByText('open the link that the operator printed').waitFor()
    await tab.context().close()
    await stop()
  })

  it('lists 10,000 resources, with only those in view in the page, and finds each', async () => {
    await using crowd = await openCrowd(10_000)
    const { link, stop } = await serve(crowd.model)
    const { page: tab, problems } = await openPage(browser)
    await tab.goto(link)
    await tab.locator('.toolbar', { hasText: '10,000 of 10,000' }).waitFor()
    expect(await tab.locator('.tbody .tr').count()).toBeLessThan(80)
    const measure = await frameMeter(tab)
    const fast = await measure(WHEEL_PX)
    const jump = await measure(10_000 * 32 * (1 / FRAMES))
    console.log(`10,000 resources: ${fast.text}; through the whole list in ${FRAMES} frames: ${jump.text}`)
    // Of the thread, so that other programs do not matter. A frame at 60 Hz has 16.7 ms.
    expect(fast.workMs).toBeLessThan(16)
    expect(jump.isAtEnd).toBe(true)
    await tab.locator('.tbody .tr', { hasText: 'one-9999' }).waitFor()
    expect(await tab.locator('.tbody .tr').count()).toBeLessThan(80)
    await tab.fill('#search', 'one-4711')
    await tab.locator('.tbody .tr', { hasText: 'one-4711' }).waitFor()
    expect(problems).toEqual([])
    await tab.context().close()
    await stop()
  })
})

async function signIn(tab: Page, token: string): Promise<void> {
  await tab.fill('#token', token)
  await tab.getByRole('button', { name: 'Sign in' }).click()
}

/** What scrolling measured. */
interface Scrolled {
  /** Work of the main thread for one frame. */
  readonly workMs: number
  readonly isAtEnd: boolean
  readonly text: string
}

/**
 * Scrolls down from the top, a step each frame, and measures frames.
 *
 * The work of a frame is the CPU time of the main thread: scripts, styles, layout and painting.
 */
async function frameMeter(tab: Page): Promise<(stepPx: number) => Promise<Scrolled>> {
  const session = await tab.context().newCDPSession(tab)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const workedMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  return async (stepPx) => {
    await tab.evaluate(FRAMES_AT_REST)
    const beforeMs = await workedMs()
    const { medianMs, isAtEnd } = await tab.evaluate<{ medianMs: number; isAtEnd: boolean }>(scroll(stepPx))
    const workMs = ((await workedMs()) - beforeMs) / FRAMES
    const text = `${Math.round(stepPx)} px and ${workMs.toFixed(1)} ms of work per frame, a frame every ${medianMs} ms`
    return { workMs, isAtEnd, text }
  }
}

/** To the top, and until that is painted. */
const FRAMES_AT_REST = `(async () => {
  document.querySelector('.tbody').scrollTop = 0
  for (let count = 0; count < 3; count++) await new Promise(requestAnimationFrame)
})()`

/** Runs in the page. */
const scroll = (stepPx: number) => `(async () => {
  const frame = () => new Promise(requestAnimationFrame)
  const body = document.querySelector('.tbody')
  const times = []
  let last = await frame()
  for (let step = 1; step <= ${FRAMES}; step++) {
    body.scrollTop = step * ${stepPx}
    const now = await frame()
    times.push(now - last)
    last = now
  }
  const sorted = times.toSorted((one, other) => one - other)
  return {
    medianMs: Math.round(10 * sorted[Math.floor(sorted.length / 2)]) / 10,
    isAtEnd: body.scrollTop + body.clientHeight >= body.scrollHeight - 1,
  }
})()`
