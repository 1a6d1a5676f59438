import { beforeAll, describe, expect, it } from 'vitest'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DiffJson } from '../../src/report/diff/json.ts'
import { confidenceText } from '../../src/report/confidence.ts'
import type { Run } from '../../src/report/run.ts'
import type { ReportData, ReportStep } from '../../src/report/view/types.ts'
import { ask } from '../cli/in-process.ts'
import { tenRuns, writeTenRuns } from './ten.ts'

/** What `show --json` prints, as far as it is compared here. */
type Shown = Pick<Run, 'header' | 'steps' | 'notes' | 'models' | 'spending' | 'digest'> & {
  readonly close: Run['close'] | null
}

let dir: string
beforeAll(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-ten-')))
  dir = join(root, 'recordings')
  writeTenRuns(dir)
  return () => rmSync(root, { recursive: true, force: true })
})

const print = async (...argv: string[]): Promise<string> => (await ask(...argv, '--dir', dir)).out
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
    const { blame, run } = await json<ReportData>('report', 'refund/refund-broken-item')
    expect(blame).toMatchObject({ recorded: 'bad', verdict: { commitments: [{ position: 3, how: 'certified' }] } })
    expect(run.case).toMatchObject({ id: 'refund-broken-item', title: 'Refunds a broken item' })
    const { forks, texts } = await json<ReportData>('report', 'desk-bad')
    expect(texts[forks?.branches[0]?.outcome ?? -1]).toBe('returned {"refunded":25}')
    expect((await json<ReportData>('report', 'desk-branch')).run.parent).toEqual({ id: 'desk-bad', keep: 6 })
  })
})

describe.each([
  ['desk-bad', 'desk-good'],
  ['desk-good', 'desk-branch'],
  ['desk-bad', 'cut'],
  ['from-har', 'from-spans'],
  ['red/red', 'red/unproven'],
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
      const answered = text.includes('were asked the same and answered otherwise')
      expect(answered).toBe(first.role === 'origin')
    }
    const rows = (word: string): number => text.split('\n').filter((line) => line.endsWith(`  ${word}`)).length
    const isFirst = (row: DiffJson['steps'][number]): boolean => row === first
    for (const role of ['follows', 'chance'] as const)
      expect(rows(role)).toBe(diff.steps.filter((row) => row.role === role && !isFirst(row)).length)
    for (const { what } of diff.facts) expect(text).toContain(what)
  })
})
