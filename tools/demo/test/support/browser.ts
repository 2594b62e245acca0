/** The Chromium of this machine, driven by playwright-core. Nothing is installed: without it the tests are skipped. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
// Scripts for the page are texts: here there is no document, and the compiler knows of none.
import { type Browser, chromium, type Page } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Waits of pages: generous, because machines are busy. */
const PATIENCE_MS = 60_000

/** The path of the browser, from `CHROMIUM` or the PATH. */
export const chromiumPath: string | undefined =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path))

/** Where pictures of the documentation go: written with `REEVE_PICTURES=true npm run test:browser`. */
const PICTURES =
  process.env.REEVE_PICTURES === 'true'
    ? fileURLToPath(new URL('../../../../docs/images/', import.meta.url))
    : undefined

/** Why tests are skipped. */
export const WITHOUT_CHROMIUM =
  'skipped: no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM'

/** Starts the browser. */
export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(WITHOUT_CHROMIUM)
  return chromium.launch({ executablePath: chromiumPath, args: FLAGS })
}

/** A page that fails the test when a script of it fails, or when something is loaded from elsewhere. */
export async function openPage(
  browser: Browser,
  viewport = { width: 1280, height: 780 },
  colorScheme: 'dark' | 'light' = 'light',
): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
  // Servers with certificates of their own are on this machine.
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce', ignoreHTTPSErrors: true })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    // A refused request is logged by the browser; tests look at what the page makes of it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text())
  })
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') problems.push(`request to ${hostname}`)
  })
  return { page, problems }
}

/** A violation as axe reports it. */
interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/** What axe has to say about the page as it is now: one line for each violation. */
export async function violations(page: Page): Promise<readonly string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  // Through the debugger: the policy of the page allows no scripts but its own.
  await page.evaluate(await readFile(axe, 'utf8'))
  const found = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)')
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
  )
}

/** The pictures of the documentation: the most telling ones, and small. */
const WANTED = [
  'resources',
  'resource',
  'resource-narrow',
  'reconcile-dark',
  'health',
  'plan',
  'releases',
  'dynatrace',
  'report',
  'simulator',
]

/** Writes a picture of what is in view, if pictures are wanted; with `REEVE_SCREENSHOTS=<folder>` of every page, to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const { REEVE_SCREENSHOTS: folder } = process.env
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  if (PICTURES === undefined || !WANTED.includes(name)) return
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
  await mkdir(PICTURES, { recursive: true })
  await writeFile(join(PICTURES, `console-${name}.webp`), Buffer.from(data, 'base64'))
}

/** Whether the page can be read without scrolling sideways. */
export function isWiderThanScreen(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
}
