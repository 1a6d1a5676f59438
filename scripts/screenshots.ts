// The pictures of the documents: five states of a report, as a browser shows them. Needs a built dist/ and a Chromium.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { pageOf } from '../src/report/view/page.ts'
import { chromiumPath } from '../test/report/chromium.ts'
import { golden, red, whole } from '../test/report/samples.ts'

const states = [
  ['run', whole, ''],
  ['context', whole, '#step=7&tab=context'],
  ['compare', whole, '#view=compare'],
  ['red', red, ''],
  ['golden', golden, ''],
] as const

if (chromiumPath === undefined) throw new Error('no Chromium: install one, or name it in HARVEST_CHROMIUM')
const folder = mkdtempSync(join(tmpdir(), 'harvest-screenshots-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
mkdirSync('docs/images', { recursive: true })
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] })
for (const [name, data, hash] of states) {
  const file = join(folder, `${name}.html`)
  writeFileSync(file, pageOf(data))
  const page = await browser.newPage({ viewport: { width: 1240, height: name === 'golden' ? 420 : 700 } })
  await page.goto(pathToFileURL(file).href + hash)
  await page.waitForSelector('main')
  // WebP: a quarter of the size of a PNG, and every place that shows our pages shows it.
  const session = await page.context().newCDPSession(page)
  const { data: picture } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
  writeFileSync(`docs/images/${name}.webp`, Buffer.from(picture, 'base64'))
  await page.close()
}
await browser.close()
console.log(`made ${states.length} pictures in docs/images`)
