import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The browser to test with: `HARVEST_CHROMIUM`, or one in a usual place. */
export const chromiumPath = [process.env['HARVEST_CHROMIUM'], ...usual].find(
  (path) => path !== undefined && existsSync(path),
)

/** For the name of a suite: that it was skipped is seen in the summary. */
export const browserName = chromiumPath === undefined ? 'no Chromium found, set HARVEST_CHROMIUM' : 'in Chromium'

export interface Pages {
  newPage(options?: BrowserContextOptions): Promise<Page>
  close(): Promise<void>
}

/**
 * Starts the browser. Pages with the same options share a window, for a new one, with an address bar that is a page itself,
 * costs more than most tests. What is tested keeps nothing, so that no page sees what another did.
 */
export async function startChromium(): Promise<Pages> {
  const browser = await chromium.launch({
    executablePath: chromiumPath ?? '',
    // All pages are ours: they share processes, too, where the browser can let them.
    args: ['--no-sandbox', '--disable-gpu', '--renderer-process-limit=1', '--process-per-site'],
  })
  const windows = new Map<string, Promise<BrowserContext>>()
  return {
    async newPage(options = {}) {
      const wanted = { viewport: { width: 1440, height: 860 }, ...options }
      const key = JSON.stringify(wanted)
      const window = windows.get(key) ?? openWindow(browser, wanted)
      windows.set(key, window)
      return (await window).newPage()
    },
    close: () => browser.close(),
  }
}

async function openWindow(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const window = await browser.newContext(options)
  // It closes with its last page.
  await window.newPage()
  return window
}
