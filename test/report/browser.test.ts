import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { pageOf, readShell } from '../../src/report/view/page.ts'
import { reportData } from '../../src/report/view/report-data.ts'
import { pagesOf } from '../../src/cli/reporting/pages.ts'
import { servePages } from '../../src/cli/reporting/serve.ts'
import { putTape, type TapeParts } from '../recordings/make.ts'
import { built } from '../support/built.ts'
import { browserName, chromiumPath, type Pages, startChromium } from './chromium.ts'
import { deskEvents, opened, tapeOf } from './desk.ts'
import { hostileDesk, hostileLists } from './hostile.ts'
import { bare, golden, imported, inbox, madeAt, red, whole } from './samples.ts'

// What runs in the page stands as text: this file is compiled for Node.
const attack = `(async () => {
  const seen = []
  document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective))
  const image = document.createElement('img')
  image.src = 'http://127.0.0.1:1/x'
  const script = document.createElement('script')
  script.textContent = 'document.title = "owned"'
  document.body.append(image, script)
  await fetch('http://127.0.0.1:1/').catch(() => seen.push('fetch failed'))
  document.body.setAttribute('style', 'color: red')
  await new Promise((done) => setTimeout(done, 100))
  return [...new Set(seen)].sort()
})()`
describe.skipIf(chromiumPath === undefined)(`a report ${browserName}`, () => {
  let browser: Pages
  let folder: string
  const files: Record<string, string> = {}
  const put = (name: string, html: string): void => {
    const file = join(folder, `${name}.html`)
    writeFileSync(file, html)
    files[name] = pathToFileURL(file).href
  }

  beforeAll(async () => {
    built('report/shell.json')
    folder = mkdtempSync(join(tmpdir(), 'harvest-report-'))
    for (const [name, data] of Object.entries({ whole, bare, red, imported, golden })) put(name, pageOf(data))
    put('packed', pageOf(whole, readShell(), 'gzip'))
    put('hostile', pageOf(hostileDesk()))
    put('hostile-golden', pageOf(hostileLists(golden)))
    put('hostile-inbox', pageOf(hostileLists(inbox)))

    put('hostile-packed', pageOf(hostileDesk(), readShell(), 'gzip'))
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  interface Opened {
    readonly page: Page
    /** Requests but that of the page itself, lines of the console, errors, dialogs. */
    readonly heard: string[]
  }

  async function open(name: string, hash = '', options: BrowserContextOptions = {}): Promise<Opened> {
    const page = await browser.newPage(options)
    onTestFinished(() => page.close())
    const heard: string[] = []
    const address = files[name] ?? ''
    page.on(
      'request',
      (request) => request.url() !== address + hash && request.url() !== address && heard.push(request.url()),
    )
    page.on('console', (line) => heard.push(line.text()))
    page.on('pageerror', (error) => heard.push(error.message))
    page.on('dialog', (dialog) => {
      heard.push('a dialog')
      void dialog.dismiss()
    })
    await page.goto(address + hash)
    await page.waitForSelector('main')
    return { page, heard }
  }
  const texts = (page: Page, selector: string): Promise<string[]> => page.locator(selector).allInnerTexts()
  const addressOf = (page: Page): Promise<string> => page.evaluate<string>('location.hash')

  it('opens from disk at the step that decided, with a row for each step, and asks for nothing', async () => {
    const { page, heard } = await open('whole')
    expect(await page.title()).toBe('desk · step by step')
    expect(await texts(page, '.step .no')).toEqual(expect.arrayContaining(whole.run.steps.map(({ no }) => `${no}`)))
    expect(await page.innerText('.verdict')).toContain('Step 7 decided how this run ended.')
    expect(await page.innerText('.verdict')).toContain(
      'With this step as recorded (replayed), 0 of 16 runs end well; with it asked again (resampled), 11 of 16 do.',
    )
    expect(await page.innerText('.stephead h2')).toBe('7 gpt-5-mini')
    expect(await addressOf(page)).toBe('#step=7')
    expect(heard).toEqual([])
  })

  it('shows the amount of a call in its row, and draws no interval of fewer than five runs', async () => {
    const blame = whole.blame!
    const steps = blame.steps.map((one) => (one.steps[0] === 2 ? { ...one, resampled: { ok: 1, failed: 1 } } : one))
    put('few', pageOf({ ...whole, blame: { ...blame, steps } }))
    const { page } = await open('few', '#step=2')
    expect(await page.innerText('#r8 .sub')).toBe('triage refund("A-100", amount: 2500)')
    expect(await texts(page, '.right tr.faint td:nth-child(2)')).toEqual(['too few runs to say'])
    expect(await page.innerText('.stephead')).toContain('1 of 2 end well (all forks from here)')
  })

  it('shows earlier steps that were necessary too, with what was held and the counts', async () => {
    const shares = { resampled: { ok: 9, forks: 12 }, kept: { ok: 0, forks: 14 } }
    const earlier = [{ position: 1, how: 'certified', alpha: 0.0125, ...shares, held: [2, 5] }]
    put('earlier', pageOf({ ...whole, blame: { ...whole.blame!, earlier } }))
    const { page } = await open('earlier')
    const said = (await page.innerText('.right')).replaceAll(/\s+/g, ' ')
    expect(said).toContain('Step 2, was necessary too')
    expect(said).toContain(
      'All of these with steps 3, 4 and step 7 as recorded. With this step as recorded (replayed), 0 of 14 runs end well; with it asked again (resampled), 9 of 12 do.',
    )
  })

  it('names no step of what the code drew, and no badge of a certificate', async () => {
    const { replay: _replay, ...ran } = whole
    const { verdict } = whole.blame!
    const [one] = verdict!.commitments!
    const { alpha: _, ...rest } = one!
    const as = (more: object) => ({ ...whole.blame!, verdict: { ...verdict!, commitments: [{ ...rest, ...more }] } })
    const draws = { how: 'draws', codeAlone: { ok: 8, bad: 12, unknown: 0 } }
    put('draws', pageOf({ ...ran, blame: as(draws) }))
    const { page } = await open('draws')
    const said = (await page.innerText('#app')).replaceAll(/\s+/g, ' ')
    expect(said).toContain("What the agent's own code draws or reads from step 7 on")
    expect(said).toContain('8 of 20 runs end well')
    expect(said).not.toMatch(/certified|step 7 decided/i)
    expect(await page.locator('main .badge.blame').count()).toBe(0)
    put('open', pageOf({ ...ran, blame: as({ codeAlone: { ok: 0, bad: 12, unknown: 8 } }) }))
    const open8 = await open('open')
    expect(await open8.page.innerText('.right')).toContain(
      "Step 7, or what the agent's own code draws or reads before it,",
    )
  })

  it('shows of a packed report what it shows of a plain one', async () => {
    const [plain, packed] = [await open('whole'), await open('packed')]
    expect(await packed.page.innerText('#app')).toBe(await plain.page.innerText('#app'))
    expect(packed.heard).toEqual([])
  })

  it('shows the facts of the view model in its panels', async () => {
    const { page } = await open('whole', '#step=7')
    expect(await page.innerText('.stephead .facts')).toContain('103 tokens in, 20 out')
    expect(await page.innerText('#stepbody')).toContain('Order A-100 was paid with 2500 EUR.')
    expect(await page.innerText('#stepbody')).toContain('"2500" 42 %')
    await page.click('#tab-context')
    expect(await page.innerText('#stepbody')).toContain('2 entered, 0 left')
    await page.click('#tab-other')
    expect(await page.innerText('#stepbody')).toContain('Asked the same, answered differently. The runs part here.')
    await page.click('#tab-raw')
    expect(await page.innerText('#stepbody')).toContain('POST https://api.openai.com/v1/chat/completions')
    expect(await page.innerText('.right')).toContain('wrong at most 1.25 % of the time')
  })

  it('compares two runs from where they part', async () => {
    const { page } = await open('whole', '#view=compare')
    expect(await page.innerText('main h2')).toBe('The runs part at step 7')
    expect(await page.locator('.cmp').first().locator('tbody tr').count()).toBe(whole.diff?.steps.length)
    expect(await texts(page, 'tr.hot td:nth-child(6)')).toEqual(['parts here'])
  })

  it('draws agents and branches', async () => {
    const { page } = await open('whole', '#view=agents')
    expect(await page.innerText('main h2')).toBe('3 agents')
    expect(await page.locator('main svg g.box').count()).toBe(whole.run.steps.length)
    await page.click('nav >> text=Branches')
    expect(await page.innerText('main')).toContain(
      '1 of 2 end as recorded (95 % interval of that share, for display: 9 % to 91 %)',
    )
    expect(await page.locator('main tbody tr').count()).toBe(2)
  })

  it('of a red case opens at what was recorded and what is now', async () => {
    const { page } = await open('red')
    expect(await page.innerText('.verdict')).toContain('golden/refund-broken-item parts at step 8.')
    expect(await page.innerText('#stepbody')).toContain('args.amount')
    expect(await page.innerText('#stepbody')).toContain(
      '→ to see the recorded steps: npx vitest-harvest show desk-good',
    )
    expect(await texts(page, '.step .badge.bad')).toEqual(['parts here', 'only now'])
    expect(await page.locator('.step >> text=served').count()).toBe(7)
  })

  it('says of an import what it does not know, and shows no time that it does not have', async () => {
    const { page } = await open('imported')
    const said = await page.innerText('#app')
    expect(said).toContain('start not recorded')
    expect(said).toContain('times not recorded: in order')
    expect(said).toContain('How the run ended is not recorded.')
    expect(said).toContain('it cannot be replayed, forked or blamed')
    expect(said).toContain('does not hold: timings, start, outcome')
    expect(said).not.toMatch(/1970|npx vitest-harvest blame|\b\d+ ms\b/)
  })

  it('says in an empty view which command fills it', async () => {
    const { page } = await open('bare', '#view=compare')
    expect(await page.innerText('main code')).toBe('npx vitest-harvest report desk-good --against CASE -o run.html')
    await page.click('nav >> text=Branches')
    expect(await page.innerText('main code')).toContain('npx vitest-harvest fork desk-good')
  })

  it('is driven by keys alone', async () => {
    const { page } = await open('whole', '#step=1')
    const isAt = (name: string): Promise<void> => page.locator('.stephead h2', { hasText: name }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await isAt('3 gpt-5-nano')
    await page.keyboard.press('n')
    await isAt('4 gpt-5-nano')
    await page.keyboard.press('p')
    await isAt('3 gpt-5-nano')
    await page.keyboard.press('G')
    await isAt('10 gpt-5')
    await page.keyboard.press('2')
    expect(await addressOf(page)).toContain('tab=context')
    await page.keyboard.press('g')
    await isAt('1 gpt-5')
    await page.keyboard.press('t')
    expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
    await page.keyboard.press('/')
    await page.keyboard.type('is:retry')
    expect(await page.innerText('.filters [role=status]')).toBe(
      `1 of ${whole.run.steps.length + whole.run.notes.length}`,
    )
    await page.keyboard.press('Enter')
    await isAt('4 gpt-5-nano')
    await page.keyboard.press('?')
    await page.locator('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'hidden' })
  })

  it.each([
    ['kind:tool', 2],
    ['agent:billing', 3],
    ['is:error', 1],
    ['is:blamed', 1],
    ['>5ms', 7],
    ['nothing-has-this', 0],
  ])('searches for %s', async (query, rows) => {
    const { page } = await open('whole', `#q=${encodeURIComponent(query)}`)
    expect(await page.locator('.step').count()).toBe(rows)
    if (rows === 0) {
      await page.click('text=Show all')
      expect(await page.locator('.step').count()).toBe(whole.run.steps.length + whole.run.notes.length)
    }
  })

  it('has an address for each view and step, and goes back and forward through views', async () => {
    const { page } = await open('whole', '#step=5&tab=raw')
    expect(await page.innerText('.stephead h2')).toBe('5 gpt-5-mini')
    await page.click('nav >> text=Compare')
    await page.click('nav >> text=Agents')
    await page.goBack()
    expect(await page.innerText('main h2')).toBe('The runs part at step 7')
    await page.goBack()
    expect(await page.innerText('.stephead h2')).toBe('5 gpt-5-mini')
    await page.goForward()
    expect(await addressOf(page)).toContain('view=compare')
    await page.evaluate("location.hash = '#step=9'")
    await page.waitForSelector('text=9 refund')
  })

  it('copies a request as curl without a key, and calls as the lines of a test', async () => {
    const { page } = await open('whole', '#step=8', { permissions: ['clipboard-read', 'clipboard-write'] })
    const copied = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()')
    await page.click('text=Copy as curl')
    await page.waitForSelector('text=curl copied')
    const curl = await copied()
    expect(curl).toMatch(
      /^curl -X POST https:\/\/api\.openai\.com\/v1\/chat\/completions \\\n {2}-H 'content-type: application\/json'/,
    )
    expect(curl).toContain('-H "authorization: Bearer $API_KEY"')
    expect(curl).toContain(`--data-binary '{"model":"gpt-5"`)
    await page.click('text=Copy as toCall')
    await page.waitForSelector('text=toCall copied')
    expect(await copied()).toBe('expect(run).toCall("refund", {"order_id":"A-100","amount":2500})')
  })

  it.each(['hostile', 'hostile-packed'])('takes nothing of a tape for more than text: %s', async (name) => {
    const { page, heard } = await open(name, '#step=7')
    for (const view of ['compare', 'agents', 'branches', 'run']) {
      await page.evaluate(`location.hash = '#view=${view}&step=7'`)
      await page.waitForTimeout(60)
    }
    const tabs = await page.locator('.subtabs button').count()
    for (let tab = 1; tab <= tabs; tab++)
      await page
        .locator('.subtabs button')
        .nth(tab - 1)
        .dispatchEvent('click')
    expect(await page.title()).toMatch(/step by step$/)
    expect(
      await page.evaluate(
        "[document.images.length, document.scripts.length, document.querySelectorAll('svg[onload], a').length]",
      ),
    ).toEqual([0, 3, 0])
    expect(await page.locator('.esc').count()).toBeGreaterThan(0)
    expect(heard).toEqual([])
  })

  it.each(['hostile-golden', 'hostile-inbox'])('takes nothing of a list for more than text: %s', async (name) => {
    const { page, heard } = await open(name)
    expect(await page.title()).toBe('golden set')
    expect(
      await page.evaluate(
        "[document.images.length, document.scripts.length, document.querySelectorAll('svg[onload], script[src], iframe').length]",
      ),
    ).toEqual([0, 3, 0])
    // Reports lie beside the page: an address of another kind is no link.
    const leads = await page.evaluate<string[]>("[...document.querySelectorAll('a')].map((a) => a.protocol)")
    expect(leads.filter((protocol) => protocol !== 'file:')).toEqual([])
    expect(await page.locator('.esc').count()).toBeGreaterThan(0)
    expect(heard).toEqual([])
  })

  it('lets no script, style, image or request in that its policy does not name', async () => {
    const { page } = await open('whole')
    const refused = await page.evaluate<string[]>(attack)
    expect(refused).toEqual(['connect-src', 'fetch failed', 'img-src', 'script-src-elem', 'style-src-attr'])
    expect(await page.title()).toBe('desk · step by step')
  })

  it('prints every row, in the light theme', async () => {
    const { page } = await open('whole', '', { colorScheme: 'dark' })
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(await page.locator('.step').count()).toBe(whole.run.steps.length + whole.run.notes.length)
    expect(await page.getAttribute('html', 'data-theme')).toBe('light')
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
  })

  it('holds 5,004 steps in 600 nodes, and reaches the last', async () => {
    const events = Array.from({ length: 5004 }, (_, index) => ({
      kind: 'tool' as const,
      n: index * 2 + 1,
      at: index * 10,
      name: `step_${index % 7}`,
      args: { index },
      settled: [index * 2 + 2, index * 10 + 8] as const,
      result: { ok: true },
    }))
    put('long', pageOf(reportData({ run: opened(tapeOf({ events })), madeAt })))
    const { page, heard } = await open('long')
    const nodes = (): Promise<number> => page.evaluate("document.querySelectorAll('*').length")
    expect(await nodes()).toBeLessThanOrEqual(600)
    await page.keyboard.press('G')
    await page.waitForSelector('text=5004 step_')
    expect(await nodes()).toBeLessThanOrEqual(600)
    expect(heard).toEqual([])
  })

  it.each([
    [1280, 800],
    [1000, 700],
    [640, 900],
  ])('is whole at %d × %d: nothing lies beside the page, and blame is reached', async (width, height) => {
    const { page } = await open('whole', '', { viewport: { width, height } })
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    if (width <= 1100) await page.click('#tab-blame')
    expect(await page.isVisible('text=wrong at most 1.25 % of the time')).toBe(true)
  })

  it('lists the inbox as `ls` does, behind an address that leads there once, and says which sessions it has', {
    tags: 'thorough',
  }, async () => {
    const recordings = join(folder, 'recordings')
    const put = (id: string, parts: TapeParts): string =>
      putTape(recordings, `inbox/${id}`, { ...parts, header: { id, session: { id: 'S-1' }, ...parts.header } })
    put('desk-bad', { header: { agent: 'desk' }, events: deskEvents() })
    put('cut', { header: { agent: 'desk' }, events: [], close: null })
    const served = await servePages(pagesOf(recordings, []), 0)
    onTestFinished(served.close)
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const violations: string[] = []
    page.on('console', (line) => violations.push(line.text()))
    // From a page of a file, as a browser that is started opens it.
    const start = join(folder, 'start.html')
    writeFileSync(start, `<!doctype html><meta http-equiv="refresh" content="0;url=${served.once('?session=S-1')}">`)
    await page.goto(pathToFileURL(start).href)
    await page.waitForSelector('.ask')
    expect(await texts(page, '.ask ~ [role=status]')).toEqual(['2 of 2 tapes'])
    expect(await page.inputValue('.ask [name=session]')).toBe('S-1')
    await page.fill('.ask [name=text]', 'a-100')
    await page.keyboard.press('Enter')
    await page.waitForURL(/text=a-100/)
    await page.waitForSelector('.ask')
    expect(await texts(page, '.ask ~ [role=status]')).toEqual(['1 of 2 tapes'])
    await page.click('text=desk-bad')
    await page.waitForSelector('.stephead')
    await page.goBack()
    await page.waitForSelector('.ask')
    await page.click('text=Clear')
    await page.waitForURL(/\/$/)
    await page.click('.dash button >> text=S-1')
    await page.waitForURL(/session=S-1$/)
    expect(violations).toEqual([])
  })

  it('of the golden set shows every case, by state, and narrows to one', async () => {
    const { page, heard } = await open('golden')
    expect(await texts(page, 'tbody tr td:first-child')).toEqual([
      'red',
      'broken',
      'unproven',
      'known bad',
      'not run',
      'green',
    ])
    await page.click('.tiles >> text=unproven')
    expect(await texts(page, 'tbody tr td:first-child')).toEqual(['unproven'])
    expect(heard).toEqual([])
  })
})
