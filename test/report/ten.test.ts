// Over 300 lines: ten real runs, made once, on every surface.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { pagesOf } from '../../src/cli/reporting/pages.ts'
import { confidenceText } from '../../src/report/confidence.ts'
import type { DiffJson } from '../../src/report/diff/json.ts'
import { counted, finePercent, int, ms, offset, percent, pretty, usd } from '../../src/report/page/format.ts'
import type { Run } from '../../src/report/run.ts'
import type { ReportBlame, ReportData, ReportStep } from '../../src/report/view/types.ts'
import { ask } from '../cli/in-process.ts'
import { browserName, chromiumPath, type Pages, startChromium } from './chromium.ts'
import { makeTenRuns, type TenRun, tenRuns, type TenRuns } from './ten.ts'

/** What `show --json` prints, as far as it is compared here. */
type Shown = Pick<Run, 'header' | 'steps' | 'notes' | 'models' | 'spending' | 'digest'> & {
  readonly close: Run['close'] | null
}

let ten: TenRuns
let dir: string
beforeAll(async () => {
  ten = await makeTenRuns()
  dir = ten.recordings
})
afterAll(() => ten?.remove())

const nameOf = (run: string): string => (run === 'branch' ? ten.branch : run)
const print = async (...argv: string[]): Promise<string> => (await ask(...argv.map(nameOf), '--dir', dir)).out
const json = async <Answer>(...argv: string[]): Promise<Answer> => JSON.parse(await print(...argv, '--json')) as Answer

/** A step as all surfaces tell it. */
function factsOf(step: Shown['steps'][number]): object {
  const { number, n, kind, name, lane, retryOf, atMs, tookMs, site, status, finish, error, during, inside, isOpen } =
    step
  return {
    no: number,
    n,
    kind,
    name,
    lane,
    again: retryOf,
    at: atMs,
    took: tookMs,
    site,
    status,
    fin: finish,
    err: error,
    par: during.length === 0 ? undefined : during,
    inside,
    open: isOpen ? true : undefined,
    cost: step.costUsd,
    sure: step.confidence,
    calls: step.toolCalls,
    answer: step.answer,
    thought: step.reasoning,
    tokens: step.usage?.inputTokens,
  }
}
function factsOfView(step: ReportStep, texts: readonly string[]): object {
  const { no, n, kind, name, lane, again, at, took, site, status, fin, err, par, inside, open, cost, sure } = step
  const text = (ref: number | undefined): string | undefined => (ref === undefined ? undefined : texts[ref])
  return {
    no,
    n,
    kind,
    name,
    lane,
    again,
    at,
    took,
    site,
    status,
    fin,
    err,
    par,
    inside,
    open,
    cost,
    sure,
    calls: (step.calls ?? []).map((call) => call.text),
    answer: text(step.said ?? step.result),
    thought: text(step.thought),
    tokens: step.tok?.[0] ?? undefined,
  }
}

/** A machine may be busy. */
const patient = { timeout: 60_000 }

// What runs in the page stands as text: this file is compiled for Node.
const audit = `(async () => {
  const { violations, passes } = await axe.run({
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  })
  const named = violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', '))
  return { passes: passes.length, violations: named }
})()`

describe.each(tenRuns)('a run on the terminal, for programs, and in a report: %s', (name) => {
  it('has the same steps, with the same facts', async () => {
    const [shown, { run, texts }] = [await json<Shown>('show', name), await json<ReportData>('report', name)]
    expect(run.steps.map((step) => factsOfView(step, texts))).toEqual(shown.steps.map(factsOf))
  })

  it('has the same head and end', async () => {
    const [shown, { run }] = [await json<Shown>('show', name), await json<ReportData>('report', name)]
    expect(run).toMatchObject({
      id: shown.header.id,
      agent: shown.header.agent,
      startedAt: shown.header.startedAt,
      digest: shown.digest,
      models: shown.models,
      spending: shown.spending,
      truncated: shown.close === null,
    })
    expect(run.imported).toEqual(shown.header.imported)
    expect(run.outcome?.status).toBe(shown.close?.outcome.status)
    expect(run.notes.map(({ n, kind }) => [n, kind])).toEqual(shown.notes.map(({ n, kind }) => [n, kind]))
  })

  it('is printed with what the report says of each step, and without times it does not have', async () => {
    const { run } = await json<ReportData>('report', name)
    const text = await print('show', name, '--full', '--steps', '2000')
    const isTimed = !run.imported?.missing.some((what) => what === 'timings' || what === 'starts')
    const lanes = new Set(run.steps.map(({ lane }) => lane))
    const lines = text.split('\n').filter((line) => /^ *\d+ {2,}(?:\+|(?:tool|model|retrieval|http|mcp) )/.test(line))
    expect(lines).toHaveLength(run.steps.length)
    for (const [index, line] of lines.entries()) {
      const { no, kind, name: called, lane, again } = run.steps[index]!
      expect(line.trim()).toMatch(new RegExp(`^${no}  `))
      expect(line).toContain(`${kind}`)
      expect(line).toContain(called.slice(0, 20))
      expect(line.includes(`retry of ${again}`)).toBe(again !== undefined)
      expect(/\+\d/.test(line)).toBe(isTimed)
      if (lanes.size > 1) expect(line).toContain(lane)
    }
    for (const { sure } of run.steps) if (sure !== undefined) expect(text).toContain(confidenceText(sure).slice(0, 30))
    expect(text.includes('truncated: the process ended before the run did')).toBe(run.truncated)
    if (run.imported !== undefined) expect(text).toContain(run.imported.missing.join(', ').slice(0, 30))
  })
})

describe('what is known of a run', () => {
  it('is in its report as the commands printed it', async () => {
    const { blame } = await json<ReportData>('report', 'incident')
    // The steps that the command proposed are about the moment it ran in.
    const { next, ...printed } = JSON.parse(ten.printed.blame) as ReportBlame & { readonly next: readonly string[] }
    expect(next[0]).toMatch(/^npx vitest-harvest blame incident .*--repairs /)
    expect(blame).toEqual(printed)
    expect(blame?.verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 2, how: 'certified' }] })
    expect((await json<ReportData>('report', 'red-case')).run.case).toMatchObject({ id: 'red-case', expect: 'pass' })
    const { forks } = await json<ReportData>('report', 'desk-bad')
    expect(forks).toMatchObject({ keep: 6, judged: 3, asRecorded: 1, grades: { ok: 2, bad: 1 } })
    expect((await json<ReportData>('report', 'branch')).run.parent).toEqual({ id: 'desk-bad', keep: 6 })
  })

  it('is listed with the times, the end and the cost that its report has', async () => {
    const { tapes } = await json<{
      tapes: { id: string; startedAt?: string; durationMs?: number; costUsd?: number }[]
    }>('ls')
    for (const name of tenRuns.filter((one) => !one.endsWith('-case'))) {
      const { run } = await json<ReportData>('report', name)
      const { startedAt, durationMs, costUsd } = tapes.find(({ id }) => id === nameOf(name))!
      const isStarted = run.imported?.missing.includes('start') !== true
      expect({ startedAt, durationMs, costUsd }, name).toEqual({
        startedAt: isStarted ? run.startedAt : undefined,
        durationMs: run.took,
        costUsd: run.spending.costUsd === undefined ? undefined : (expect.closeTo(run.spending.costUsd, 9) as number),
      })
    }
  })
})

describe.each([
  ['desk-bad', 'desk-good'],
  ['desk-good', 'branch'],
  ['desk-bad', 'cut'],
  ['replayable', 're-drivable'],
  ['red-case', 'unproven-case'],
])('two runs on the terminal, for programs, and in a report: %s, %s', (a, b) => {
  it('part at the same step, for the same reason, with the same facts', async () => {
    const diff = await json<DiffJson>('diff', a, b)
    expect((await json<ReportData>('report', a, '--against', b)).diff).toEqual(JSON.parse(JSON.stringify(diff)))
    const text = await print('diff', a, b, '--full')
    const { parts } = diff
    const first = diff.steps.find((row) => row.a === parts?.a && row.b === parts?.b)
    expect(text.includes('\nparts    ')).toBe(parts !== null)
    if (parts !== null && first !== undefined) {
      const line = text.split('\n').find((one) => one.endsWith('parts here')) ?? ''
      expect(line.trim()).toMatch(new RegExp(`^A${parts.a ?? '–'} +B${parts.b ?? '–'} `))
      const answered = text.includes('were asked the same and answered differently')
      expect(answered).toBe(first.role === 'origin')
    }
    const rows = (word: string): number => text.split('\n').filter((line) => line.endsWith(`  ${word}`)).length
    const isFirst = (row: DiffJson['steps'][number]): boolean => row === first
    for (const role of ['follows', 'chance'] as const)
      expect(rows(role)).toBe(diff.steps.filter((row) => row.role === role && !isFirst(row)).length)
    for (const { what } of diff.facts) expect(text).toContain(what)
  })
})

describe.skipIf(chromiumPath === undefined)(`ten real runs ${browserName}`, { tags: 'thorough' }, () => {
  let browser: Pages
  const fileOf = (name: string): string => join(ten.root, `${name}.html`)

  beforeAll(async () => {
    for (const name of tenRuns.filter((one) => !one.endsWith('-case')))
      await ask('report', nameOf(name), '-o', fileOf(name), '--dir', dir)
    // What a red `vitest run` left.
    for (const name of ['red-case', 'unproven-case'])
      copyFileSync(join(ten.root, '.harvest/report/golden', `${name}.html`), fileOf(name))
    await ask('report', 'desk-bad', '--against', 'desk-good', '-o', fileOf('against'), '--dir', dir)
    await ask('report', '--golden', '--results', join(ten.root, 'results.json'), '-o', fileOf('golden'), '--dir', dir)
    writeFileSync(fileOf('inbox'), (await pagesOf(dir, [])('', new URLSearchParams())) ?? '')
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  async function load(name: string, hash = '', options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage(options)
    page.on('pageerror', (error) => expect.unreachable(`${name}: ${error.message}`))
    await page.goto(pathToFileURL(fileOf(name)).href + hash)
    await page.waitForSelector('main')
    return page
  }
  async function open(...what: Parameters<typeof load>): Promise<Page> {
    const page = await load(...what)
    onTestFinished(() => page.close())
    return page
  }
  /** Texts whole and rows all, as for a printer. */
  const unfold = (page: Page): Promise<void> => page.evaluate("dispatchEvent(new Event('beforeprint'))")
  const textOf = async (page: Page, selector: string): Promise<string> =>
    (await page.locator(selector).first().textContent()) ?? ''
  const cells = (page: Page, selector: string): Promise<string[][]> =>
    page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((row) => [...row.children].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()))`,
    )
  const at = async (page: Page, hash: string): Promise<void> => {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
  }

  describe.each(tenRuns)('%s', (name) => {
    let page: Page
    beforeAll(async () => {
      page = await load(name)
    })
    afterAll(() => page?.close())

    it('shows in head and boundary what `show --json` prints', async () => {
      const { header, close, steps, models, spending, digest } = await json<Shown>('show', name)
      const head = await page.innerText('.head')
      const isTimed = !header.imported?.missing.some((what) => what === 'timings' || what === 'starts')
      expect(await page.title()).toBe(`${header.agent} · step by step`)
      expect(head).toContain(header.agent)
      expect(head).toContain(
        header.imported?.missing.includes('start')
          ? 'start not recorded'
          : header.startedAt.slice(0, 19).replace('T', ' '),
      )
      expect(head).toContain(`${counted(steps.length, 'step')}${close && isTimed ? `, ${ms(close.at)}` : ''}`)
      if (models.length > 0) expect(head).toContain(models.join(', '))
      const { modelCalls, inputTokens, outputTokens = 0, untold, costUsd } = spending
      const tokens = `${untold > 0 ? 'at least ' : ''}${int((inputTokens ?? 0) + outputTokens)} tokens, `
      expect(head).toContain(
        modelCalls === 0
          ? 'no model calls'
          : inputTokens === undefined
            ? 'tokens and cost unknown'
            : `${tokens}${costUsd === undefined ? 'cost unknown' : usd(costUsd)}`,
      )
      expect(head.includes('truncated')).toBe(close === null)
      const boundary = await textOf(page, '.right')
      for (const fact of [digest, header.recorder, ...(header.imported?.missing ?? []), header.imported?.grade ?? ''])
        expect(boundary).toContain(fact)
      if (header.input !== undefined) expect(boundary).toContain(pretty(JSON.stringify(header.input)))
      if (header.parent !== undefined)
        expect(boundary).toContain(`${header.parent.id}, ${header.parent.keep} steps replayed`)
    })

    it('has a row for each step and note, with its facts', async () => {
      const { header, steps, notes } = await json<Shown>('show', name)
      await unfold(page)
      const isTimed = !header.imported?.missing.some((what) => what === 'timings' || what === 'starts')
      const rows = await page.evaluate<Record<'no' | 'kind' | 'name' | 'measures' | 'all', string>[]>(`
        [...document.querySelectorAll('.step')].map((row) => {
          const text = (one) => row.querySelector(one)?.innerText.trim() ?? ''
          return { no: text('.no'), kind: text('.badge'), name: text('.nm'), measures: text('.ms'), all: row.innerText }
        })`)
      const shown = rows.filter(({ no }) => /\d/.test(no))
      expect(shown.map(({ no, kind, name: called }) => [Number(no), kind, called])).toEqual(
        steps.map((step) => [step.number, step.kind, step.name]),
      )
      for (const [index, { usage, tookMs, retryOf, error, lane }] of steps.entries()) {
        const { measures, all } = shown[index]!
        const tokens = usage && `${int((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} tok`
        expect(measures).toBe([tokens, isTimed ? ms(tookMs) : undefined].filter(Boolean).join(' · '))
        expect(all.includes(`retry of ${retryOf}`)).toBe(retryOf !== undefined)
        if (error !== undefined) expect(all).toContain(error.slice(0, 20))
        if (new Set(steps.map((step) => step.lane)).size > 1) expect(all).toContain(lane)
      }
      expect(rows.filter(({ no }) => no === '·')).toHaveLength(notes.length)
      // A message is printed as `triage → billing  "…"`.
      for (const { kind, text } of notes)
        if (kind === 'message') expect(rows.map((row) => row.name)).toContain(text.split('  ')[0])
    })

    it('shows of its steps what `show --step --json` prints', async () => {
      const { header, steps } = await json<Shown>('show', name)
      await unfold(page)
      const isTimed = !header.imported?.missing.some((what) => what === 'timings' || what === 'starts')
      // Of a long run the first, one in the middle, and the last.
      const chosen = steps.length > 12 ? [steps[0]!, steps[200]!, steps.at(-1)!] : steps
      for (const step of chosen) {
        const { number, kind, lane, atMs, tookMs, usage, costUsd, status, finish, retryOf, site } = step
        await at(page, `#step=${number}`)
        const facts = await page.innerText('.stephead')
        expect(facts).toContain(`${number} ${step.name}`)
        expect(facts).toContain(`agent ${lane}`)
        expect(facts).toContain(isTimed ? `${offset(atMs)}, took ${ms(tookMs)}` : 'time not recorded')
        if (kind === 'model') {
          expect(facts).toContain(usage === undefined ? 'tokens unknown' : `${int(usage.inputTokens)} tokens in`)
          expect(facts).toContain(costUsd === undefined ? 'cost unknown' : usd(costUsd))
        }
        if (status !== undefined) expect(facts).toContain(`HTTP ${status}`)
        if (finish !== undefined) expect(facts).toContain(`finish ${finish}`)
        if (retryOf !== undefined) expect(facts).toContain(`the same request as step ${retryOf}`)
        if (site !== undefined) expect(facts).toContain(site)
        const said = await textOf(page, '#stepbody')
        const { answer, error, toolCalls, prompt, reasoning, confidence } = step
        if (name.endsWith('-case') && number === chosen[0]?.number) expect(await page.title()).toContain('step by step')
        for (const text of [kind === 'model' ? answer : answer && pretty(answer), error, reasoning])
          if (text !== undefined) expect(said).toContain(text)
        for (const call of toolCalls) expect(said).toContain(call.slice(0, call.indexOf('(')))
        for (const { text } of prompt?.fresh ?? []) expect(said).toContain(pretty(text))
        if (prompt?.instructions !== undefined) expect(said).toContain(prompt.instructions.text)
        for (const { token, p } of confidence?.least ?? [])
          expect(said).toContain(`${JSON.stringify(token)} ${percent(p)}`)
        if (kind === 'model' && prompt !== undefined) {
          await at(page, `#step=${number}&tab=context`)
          const seen = await textOf(page, '#stepbody')
          expect(seen).toContain(usage === undefined ? 'estimated by length' : `${int(usage.inputTokens)} tokens`)
          await at(page, `#step=${number}&tab=tools`)
          for (const tool of prompt.tools?.names ?? []) expect(await textOf(page, '#stepbody')).toContain(tool)
        }
        await at(page, `#step=${number}&tab=raw`)
        const raw = await textOf(page, '#stepbody')
        const { event, request } = await json<{
          event: { kind: string; method: string; url: string }
          request?: object
        }>('show', name, '--step', `${number}`)
        if (event.kind === 'exchange') expect(raw).toContain(`${event.method} ${event.url}`)
        if (request !== undefined) expect(raw).toContain(JSON.stringify(request))
        else if (event.kind === 'exchange') expect(raw).toContain('not recorded')
      }
    })

    it('prints on A4 with every row and nothing beside the page', async () => {
      const { steps, notes } = await json<Shown>('show', name)
      await page.setViewportSize({ width: 794, height: 1123 })
      await page.emulateMedia({ media: 'print' })
      await unfold(page)
      expect(await page.locator('.step:visible').count()).toBeGreaterThanOrEqual(steps.length + notes.length)
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      expect(await page.isVisible('text=What is on this tape')).toBe(true)
      expect(await page.locator('button.btn:visible').count()).toBe(0)
      // Its rows were counted above: painting the pages of a run of hundreds of steps would show no more.
      const pdf = await page.pdf({ format: 'A4', pageRanges: '1' })
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    })
  })

  it('shows in its panel what `blame --json` printed', async () => {
    const { steps, verdict, gradedBy, spent, delta } = JSON.parse(ten.printed.blame) as ReportBlame
    const page = await open('incident')
    const [commitment] = verdict?.commitments ?? []
    const decided = steps[commitment!.position]!
    const panel = await page.innerText('.right')
    expect(panel).toContain(`Step ${decided.steps.join(', ')}`)
    const { kept, resampled, how, alpha = 0 } = commitment!
    expect(panel).toContain(
      `as recorded (replayed), ${kept.ok} of ${kept.forks} runs end well; with it asked again (resampled), ${resampled.ok} of`,
    )
    expect(panel).toContain(`${how} wrong at most ${finePercent(alpha)} of the time`)
    for (const fact of [gradedBy, `${spent.forks} forks, ${spent.modelCalls} model calls, ${usd(spent.costUsd)}`])
      expect(panel).toContain(fact)
    expect(panel).toContain(finePercent(1 - delta))
    const ranked = steps.filter(({ drop }) => drop !== undefined)
    const rows = await cells(page, '.right tbody tr')
    expect(rows).toHaveLength(ranked.length)
    for (const { steps: own, display, resampled: tally } of ranked) {
      const row = rows.find(([no]) => no === own.join(', '))!
      expect(row[2]).toBe(display ? `${display.low.toFixed(2)} to ${display.high.toFixed(2)}` : 'exact')
      expect(row[3]).toBe(`${(tally?.ok ?? 0) + (tally?.failed ?? 0)}`)
    }
    const curve = await page.getAttribute('.right svg', 'aria-label')
    for (const { steps: own, value } of steps)
      if (value !== undefined) expect(curve).toContain(`${own.join(', ')}: ${percent(value)}`)
    expect(await page.innerText('.verdict')).toContain(`Step ${decided.steps[0]} decided how this run ended.`)
  })

  it('compares as `diff --json` does, and draws the agents and branches that were recorded', async () => {
    const diff = await json<DiffJson>('diff', 'desk-bad', 'desk-good')
    const page = await open('against', '#view=compare')
    expect(await page.innerText('main h2')).toBe(`The runs part at step ${diff.parts?.a}`)
    const lines = await cells(page, 'main section:nth-of-type(2) tbody tr')
    expect(lines.map(([a, b, kind, called]) => [a, b, kind, called])).toEqual(
      diff.steps.map(({ a, b, kind, name }) => [`${a ?? 'none'}`, `${b ?? 'none'}`, kind, name]),
    )
    for (const [index, { differences, a, b, role }] of diff.steps.entries()) {
      const classes = [...new Set(differences.map((one) => one.class))].join(' ')
      expect(lines[index]![4]).toBe(classes || (a !== undefined && b !== undefined ? 'the same' : 'only in this run'))
      const isFirst = diff.parts?.a === a && diff.parts?.b === b
      expect(lines[index]![5]).toBe(isFirst ? 'parts here' : role === 'aside' ? '' : (role ?? ''))
    }
    const facts = await cells(page, 'main section:nth-of-type(3) tbody tr')
    expect(facts.map(([what]) => what)).toEqual(['outcome', ...diff.facts.map(({ what }) => what)])
    const { steps, notes } = await json<Shown>('show', 'desk-bad')
    await at(page, '#view=agents')
    expect(await page.innerText('main h2')).toBe('3 agents')
    expect(await page.locator('main svg g.box').count()).toBe(steps.length)
    const drawn = await textOf(page, 'main svg')
    for (const { text } of notes) expect(drawn).toContain(text.slice(text.indexOf('"') + 1, -1))
    const { keep, judged, asRecorded, branches } = JSON.parse(ten.printed.fork) as Record<
      'keep' | 'judged' | 'asRecorded',
      number
    > & {
      branches: { seed: string; grade: string; outcome: { status: string; value: object }; saved: string }[]
    }
    const forked = await open('desk-bad', '#view=branches')
    expect(await forked.innerText('main')).toContain(`${branches.length} branches leave at step ${keep + 1}`)
    expect(await forked.innerText('main')).toContain(`${asRecorded} of ${judged} end as recorded`)
    expect(
      (await cells(forked, 'main tbody tr')).map(([seed, grade, outcome, , , , file]) => [seed, grade, outcome, file]),
    ).toEqual(
      branches.map(({ seed, grade, outcome, saved }) => [
        seed,
        grade,
        `${outcome.status} ${JSON.stringify(outcome.value)}`,
        saved.split('/').at(-1),
      ]),
    )
  })

  it.each(['red-case', 'unproven-case'] as const)('of a %s shows what Vitest said of it', async (name) => {
    interface Results {
      readonly testResults: readonly {
        readonly assertionResults: readonly {
          readonly failureMessages: readonly string[]
          readonly meta: { readonly harvest: { case: string; served: number; recorded: number; verdict: string } }
        }[]
      }[]
    }
    const { testResults } = JSON.parse(readFileSync(join(ten.root, 'results.json'), 'utf8')) as Results
    const { meta, failureMessages } = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find((one) => one.meta.harvest.case === name)!
    const page = await open(name)
    await unfold(page)
    const panel = await textOf(page, '#stepbody')
    expect(panel).toContain(`${meta.harvest.served} of ${meta.harvest.recorded} steps`)
    const [message = ''] = failureMessages[0]!.split('\n    at ')
    for (const line of message.split('\n').map((one) => one.replace(/^Harvest\w+: /, '').trim()))
      expect(panel).toContain(line)
    expect(await page.innerText('.verdict .badge')).toBe(name === 'red-case' ? 'red' : 'unproven')
    const badges = new Set(await page.locator('.step .t .badge').allInnerTexts())
    for (const word of name === 'red-case'
      ? ['served', 'skipped', 'parts here', 'only now, 3 times', 'not reached']
      : ['served', 'asks otherwise'])
      expect(badges).toContain(word)
  })

  it.each([
    ['incident', ''],
    ['incident', '#step=4&tab=context'],
    ['desk-bad', '#view=agents'],
    ['desk-bad', '#view=branches'],
    ['against', '#view=compare'],
    ['against', '#step=7&tab=other'],
    ['session', '#step=200'],
    ['cut', ''],
    ['red-case', ''],
    ['unproven-case', ''],
    ['re-drivable', '#view=branches'],
    ['timeline-only', '#tab=raw'],
    ['golden', ''],
    ['inbox', ''],
  ])('is accessible in both themes: %s %s', { tags: 'thorough' }, async (name, hash) => {
    const page = await open(name, hash, { bypassCSP: true, reducedMotion: 'reduce' })
    await page.addScriptTag({ content: axe.source })
    for (const theme of ['Dark', 'Light']) {
      const found = await page.evaluate<{ passes: number; violations: string[] }>(audit)
      expect(found.violations, `before ${theme}`).toEqual([])
      expect(found.passes).toBeGreaterThan(15)
      await page.click(`button:text-is("${theme}")`)
    }
  })

  it.each<[TenRun | 'against', string[]]>([
    ['against', ['step=7&tab=other', 'view=compare', 'view=agents']],
    ['session', ['step=391&tab=raw', 'q=is%3Aerror', 'view=agents']],
  ])('has addresses, and goes back and forward: %s', { tags: 'thorough' }, async (name, hashes) => {
    const page = await open(name)
    const states: string[] = []
    const state = async (): Promise<string> =>
      `${await page.evaluate<string>('location.hash')}\n${await page.innerText('main')}`
    for (const hash of hashes) {
      await at(page, `#${hash}`)
      states.push(await state())
      // The same address in a page that was just opened.
      const [address, ...lines] = states.at(-1)!.split('\n')
      const other = await open(name, address)
      expect((await other.innerText('main')).split('\n')).toEqual(lines)
      await other.close()
    }
    for (const expected of states.slice(0, -1).reverse()) {
      await page.goBack()
      await expect.poll(state, patient).toBe(expected)
    }
    for (const expected of states.slice(1)) {
      await page.goForward()
      await expect.poll(state, patient).toBe(expected)
    }
  })

  it.each([
    ['incident', ''],
    ['against', '#view=compare'],
    ['red-case', ''],
    ['golden', ''],
    ['inbox', ''],
  ])('gives every control to the Tab key, and shows where it is: %s %s', { tags: 'thorough' }, async (name, hash) => {
    const page = await open(name, hash)
    const reached = await page.evaluate<number>(`
      (window.controls = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
        .filter((one) => one.tabIndex >= 0 && one.checkVisibility())).length`)
    const seen = new Set<number>()
    for (let press = 0; press < reached + 5; press++) {
      await page.keyboard.press('Tab')
      const [index, isMarked] = await page.evaluate<[number, boolean]>(`
        (() => {
          const style = getComputedStyle(document.activeElement)
          return [controls.indexOf(document.activeElement), style.outlineStyle !== 'none' || style.boxShadow !== 'none']
        })()`)
      if (index < 0) continue
      seen.add(index)
      expect(isMarked, `control ${index}`).toBe(true)
    }
    expect(seen.size).toBe(reached)
  })

  it('is driven by the keyboard alone, from the list to each view and back', async () => {
    const page = await open('against')
    const press = async (name: string, key = 'Enter'): Promise<void> => {
      for (let tries = 0; tries < 80; tries++) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate<string>('document.activeElement.innerText ?? ""')).trim() === name) break
      }
      await page.keyboard.press(key)
    }
    await press('Compare')
    await expect.poll(() => page.innerText('main h2'), patient).toBe('The runs part at step 7')
    await press('refund')
    await expect.poll(() => page.innerText('.stephead h2'), patient).toBe('9 refund')
    expect(await page.getAttribute('#tab-other', 'aria-selected')).toBe('true')
    for (let tries = 0; tries < 80; tries++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate<boolean>("document.activeElement.id === 'tab-other'")) break
    }
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.getAttribute('#tab-raw', 'aria-selected'), patient).toBe('true')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => page.getAttribute('#tab-other', 'aria-selected'), patient).toBe('true')
    await press('worth a look', ' ')
    expect(await page.locator('.step').count()).toBeLessThan(14)
    await press('Agents')
    await expect.poll(() => page.innerText('main h2'), patient).toBe('3 agents')
    await press('Branches')
    await press('step 7')
    await expect.poll(() => page.innerText('.stephead h2'), patient).toBe('7 gpt-5-mini')
    await press('Dark')
    expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
  })
})
