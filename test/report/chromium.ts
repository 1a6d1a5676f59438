import { existsSync } from 'node:fs'

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
