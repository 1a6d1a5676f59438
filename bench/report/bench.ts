import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { importRecording } from '../../src/importers/index.ts'
import { pageOf, readShell } from '../../src/report/view/page.ts'
import { reportData } from '../../src/report/view/report-data.ts'
import type { TapeEvent } from '../../src/tape/index.ts'
import { chromiumPath } from '../../test/report/chromium.ts'
import { codingSession } from '../../test/report/coding-session.ts'
import { opened, tapeOf } from '../../test/report/desk.ts'
import type { Bench } from '../kit/contract.ts'
import { median, quantile } from '../kit/measure.ts'

interface Sample {
  readonly name: string
  readonly steps: number
  readonly page: string
}

interface Measured {
  readonly shownMs: number
  readonly nodes: number
  readonly scroll: readonly number[]
  readonly keys: readonly number[]
  readonly search: readonly [first: number, next: number]
}

const bench: Bench = {
  question: 'How fast is a report in a browser?',
  async run({ isQuick, scratch, progress }) {
    if (chromiumPath === undefined) throw new Error('no Chromium: install one, or name it in HARVEST_CHROMIUM')
    const { js, css } = readShell()
    const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] })
    const measured = new Map<string, Measured>()
    const rows: string[][] = []
    let idle: readonly number[]
    try {
      idle = await idleFrames(browser)
      for (const make of [session, longRun, largeRun]) {
        const sample = make()
        progress(sample.name)
        const found = await measure(browser, join(scratch, 'run.html'), sample.page, isQuick ? 2 : 5)
        measured.set(sample.name, found)
        rows.push(rowOf(sample, found))
      }
    } finally {
      await browser.close()
    }
    const long = measured.get('5,004 steps')!
    return {
      tables: [
        {
          title: 'From disk, in Chromium',
          columns: ['', 'file', 'shown', 'nodes', 'scroll p50 / p95', 'key `j` p50 / p95', 'search first / next'],
          rows,
        },
      ],
      remarks: [
        `An empty page took ${median(idle).toFixed(1)} / ${quantile(idle, 0.95).toFixed(1)} ms from frame to frame (p50 / p95): no page is quicker on this machine at this time.`,
      ],
      bars: [
        { what: 'script of the page, KiB', value: Buffer.byteLength(js) / 1024, limit: { atMost: 100 } },
        { what: 'style of the page, KiB', value: Buffer.byteLength(css) / 1024, limit: { atMost: 16 } },
        { what: '5,004 steps: nodes of the document', value: long.nodes, limit: { atMost: 600 } },
        { what: '5,004 steps: shown, in seconds', value: long.shownMs / 1000, limit: { atMost: 0.6 } },
        {
          what: '5,004 steps: a frame of scrolling, ms',
          value: median(long.scroll),
          limit: { atMost: 20 },
          others: { 'an empty page': median(idle) },
        },
        {
          what: '5,004 steps: the key `j`, p95, ms',
          value: quantile(long.keys, 0.95),
          limit: { atMost: 90 },
          others: { 'an empty page': quantile(idle, 0.95) },
        },
        {
          what: '25 MB of JSON: shown, in seconds',
          value: measured.get('25 MB of JSON')!.shownMs / 1000,
          limit: { atMost: 10 },
        },
      ],
    }
  },
}
export default bench

function session(): Sample {
  const bytes = Buffer.from(codingSession(391))
  const { header, events, close } = importRecording({ bytes, file: 'session.jsonl', id: 'session', agent: 'coder' })
  const tape = tapeOf({ header, events, close })
  return sampleOf('a coding session', tape)
}

function longRun(): Sample {
  const events = Array.from({ length: 5004 }, (_, index): TapeEvent => toolCall(index, `row ${index} of the answer`))
  return sampleOf('5,004 steps', tapeOf({ events }))
}

/** Texts that are not alike: pages of 60 KB. */
function largeRun(): Sample {
  const events = Array.from({ length: 420 }, (_, index): TapeEvent => {
    let state = index + 1
    const words = Array.from({ length: 7_000 }, () => {
      state = (state * 48_271) % 2_147_483_647
      return state.toString(36)
    })
    return toolCall(index, words.join(' ').slice(0, 60_000))
  })
  return sampleOf('25 MB of JSON', tapeOf({ events }))
}

function toolCall(index: number, answer: string): TapeEvent {
  const [n, at] = [index * 2 + 1, index * 10]
  const name = ['lookup_order', 'search', 'refund', 'send_mail', 'list_payments'][index % 5]!
  return { kind: 'tool', n, at, name, args: { order: `A-${index}` }, settled: [n + 1, at + 8], result: { answer } }
}

function sampleOf(name: string, tape: ReturnType<typeof tapeOf>): Sample {
  const data = reportData({ run: opened(tape), madeAt: '2026-03-04T05:06:07.000Z', isFull: true })
  return { name, steps: data.run.steps.length, page: pageOf(data) }
}

async function measure(browser: Browser, file: string, html: string, loads: number): Promise<Measured> {
  writeFileSync(file, html)
  const shown: number[] = []
  let page: Page | undefined
  for (let load = 0; load < loads; load++) {
    await page?.close()
    page = await browser.newPage({ viewport: { width: 1440, height: 860 } })
    await page.goto(pathToFileURL(file).href)
    await page.waitForSelector('.step')
    shown.push(await page.evaluate<number>("performance.getEntriesByName('shown')[0].startTime"))
  }
  const found = await page!.evaluate<Omit<Measured, 'shownMs'>>(inPage)
  await page!.close()
  return { ...found, shownMs: median(shown) }
}

/** What a frame takes where nothing is drawn: the floor of all figures. */
async function idleFrames(browser: Browser): Promise<readonly number[]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 } })
  const frames = await page.evaluate<number[]>(`(async () => {
    const frames = []
    let last = performance.now()
    for (let i = 0; i < 120; i++) {
      await new Promise((done) => requestAnimationFrame(done))
      const now = performance.now()
      frames.push(now - last)
      last = now
    }
    return frames
  })()`)
  await page.close()
  return frames
}

// What runs in the page stands as text: this file is compiled for Node.
const inPage = `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
  await drawn()
  const list = document.querySelector('.list')
  const scroll = []
  let last = performance.now()
  for (let i = 0; i < 120; i++) {
    list.scrollTop += Math.max(200, list.scrollHeight / 140)
    await frame()
    const now = performance.now()
    scroll.push(now - last)
    last = now
  }
  const nodes = document.querySelectorAll('*').length
  const keys = []
  for (let i = 0; i < 60; i++) {
    const begin = performance.now()
    dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }))
    await drawn()
    keys.push(performance.now() - begin)
  }
  const box = document.querySelector('#q')
  const search = []
  for (const word of ['refund', 'refunded']) {
    const begin = performance.now()
    box.value = word
    box.dispatchEvent(new Event('input', { bubbles: true }))
    await drawn()
    search.push(performance.now() - begin)
  }
  return { scroll, nodes, keys, search }
})()`

function rowOf({ name, steps, page }: Sample, { shownMs, nodes, scroll, keys, search }: Measured): string[] {
  const both = (values: readonly number[]): string =>
    `${median(values).toFixed(1)} / ${quantile(values, 0.95).toFixed(1)} ms`
  return [
    name.includes('steps') ? name : `${name}, ${steps} steps`,
    `${(Buffer.byteLength(page) / 1e6).toFixed(1)} MB`,
    `${shownMs.toFixed(0)} ms`,
    `${nodes}`,
    both(scroll),
    both(keys),
    search.map((ms) => ms.toFixed(0)).join(' / ') + ' ms',
  ]
}
