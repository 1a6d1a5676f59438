import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { specs } from '../../src/cli/spec/index.ts'
import * as root from '../../src/index.ts'
import * as tapeEntry from '../../src/library/tape.ts'
import * as recordEntry from '../../src/record/index.ts'
import { harvest } from '../cli/harvest.ts'
import { inProcess } from '../cli/in-process.ts'
import { recordRefund, refundAgent } from '../cli/tapes.ts'

const { checkRecordings, diffRuns, exportTape, importTapes, listTapes, openRecordings, readTape, replay } = root

/** What the commands are asked about: two runs, and a case without its tape. */
interface Folder {
  readonly recordings: string
  readonly tape: string
  readonly other: string
  readonly har: string
}

type Pair = readonly [command: unknown, library: unknown]

/** A command, the names that do the same, and how we know. */
type Row = { readonly library: readonly string[] } & (
  | { readonly same: (folder: Folder) => Promise<Pair> }
  | { readonly tested: readonly string[] }
  | { readonly why: string }
)

const story = (title: string): string => `test/library/story.test.ts › ${title}`

/** Every command of the help. Those that run an agent in a project of its own are tested by the story, without the command. */
const rows: Readonly<Record<string, Row>> = {
  demo: { library: [], why: 'it plays an incident with these commands' },
  init: { library: [], why: 'it writes a config, and has no result' },
  record: { library: ['createRecorder'], tested: [story('a recorded run is listed, read, and promoted to a case')] },
  import: {
    library: ['importTapes'],
    same: async ({ recordings, har }) => {
      const { imported } = await json<{ imported: { format: string; grade: string; missing: string[] }[] }>(
        ...['import', har, '--as', 'twice', '--agent', 'refund', '--dir', recordings],
      )
      type Facts = { readonly format: string; readonly grade: string; readonly missing: readonly string[] }
      const pick = ({ format, grade, missing }: Facts) => ({ format, grade, missing })
      return [imported.map(pick), (await importTapes(har, { agent: 'refund' })).map(({ facts }) => pick(facts))]
    },
  },
  export: {
    library: ['exportTape'],
    same: async ({ recordings, tape }) => {
      const out = join(recordings, '../out.har')
      await json('export', tape, '--format', 'har', '--out', out)
      return [JSON.parse(readFileSync(out, 'utf8')), JSON.parse((await exportTape(tape, { format: 'har' })).text)]
    },
  },
  ls: {
    library: ['listTapes', 'openRecordings'],
    same: async ({ recordings }) => {
      interface Listed {
        readonly tapes: readonly { readonly id: string; readonly outcome: string; readonly tools: readonly string[] }[]
      }
      const pick = ({ tapes }: Listed) => tapes.map(({ id, outcome, tools }) => ({ id, outcome, tools }))
      const { groups } = await json<{ groups: { newest: { id?: string }; count: number }[] }>(
        ...['ls', '--group', '--dir', recordings],
      )
      const grouped = await (await openRecordings(recordings)).groups()
      const ofGroup = (all: readonly { newest: { id?: string }; count: number }[]) =>
        all.map(({ newest, count }) => [newest.id, count])
      return [
        [pick(await json<Listed>('ls', '--dir', recordings)), ofGroup(groups)],
        [pick((await listTapes(recordings)) as Listed), ofGroup(grouped.groups)],
      ]
    },
  },
  show: {
    library: ['readTape', 'stepsOf', 'traceOf', 'readModelCall'],
    same: async ({ tape }) => {
      const { header, steps } = await json<{ header: { id: string }; steps: { n: number }[] }>('show', tape)
      const read = readTape(tape)
      return [
        [header.id, steps.map(({ n }) => n)],
        [read.header.id, tapeEntry.stepsOf(read).map(({ n }) => n)],
      ]
    },
  },
  diff: {
    library: ['diffRuns'],
    same: async ({ tape, other }) => {
      const printed = await json<{ class: string; outcome: unknown; trace: { first: unknown } }>('diff', tape, other)
      const diff = await diffRuns(tape, other)
      return [
        [printed.class, printed.outcome, printed.trace.first],
        [diff.class, diff.outcome, diff.trace.first],
      ]
    },
  },
  report: {
    library: ['exportTape', 'diffRuns', 'openRecordings'],
    same: async ({ recordings, tape }) => {
      const { text } = await exportTape(tape, { format: 'html' })
      const [, data = ''] = /id="data">([^<]*)</.exec(text) ?? []
      const run = (report: { readonly made: object; readonly run: object }) => report.run
      return [run(await json('report', tape, '--dir', recordings)), run(JSON.parse(data))]
    },
  },
  open: { library: [], why: 'it serves the pages of `report`' },
  promote: { library: ['promote'], tested: [story('a recorded run is listed, read, and promoted to a case')] },
  fix: {
    library: ['fork', 'promote'],
    tested: [
      story('what if: a fork, and injected faults'),
      story('a recorded run is listed, read, and promoted to a case'),
    ],
  },
  test: {
    library: ['startVitest'],
    tested: [
      "test/library/start-vitest.test.ts › a prompt is changed, is red, is accepted and is green, by Vitest's API",
    ],
  },
  accept: {
    library: ['VITEST_HARVEST_UPDATE=questions'],
    tested: [
      "test/library/start-vitest.test.ts › a prompt is changed, is red, is accepted and is green, by Vitest's API",
    ],
  },
  check: {
    library: ['checkRecordings', 'openRecordings'],
    same: async ({ recordings }) => {
      interface Checked {
        readonly findings: readonly { readonly code: string; readonly file: string }[]
      }
      const pick = ({ findings }: Checked) => findings.map(({ code, file }) => [code, resolve(file)])
      const pins = await json<{ unreadable: readonly unknown[] }>('check', '--pins', '--dir', recordings)
      return [
        [pick(await json<Checked>('check', '--dir', recordings)), pins.unreadable.length],
        [
          pick((await checkRecordings(recordings)) as unknown as Checked),
          (await (await openRecordings(recordings)).pins()).unreadable.length,
        ],
      ]
    },
  },
  review: {
    library: ['openRecordings'],
    tested: ['test/review/range.test.ts › is the same from code'],
  },
  rerun: {
    library: ['createRecorder', 'compareTraces'],
    tested: [story('a recorded run is listed, read, and promoted to a case')],
  },
  replay: {
    library: ['replay'],
    same: async ({ tape }) => {
      const { code } = await harvest(['replay', tape, '--agent', refundAgent])
      const agent = async (input: unknown): Promise<unknown> =>
        (await import('../cli/refund-agent.ts')).refundAgent(input as never)
      const { verdict } = await replay(tape, agent)
      return [code, verdict.verdict === 'same' ? 0 : 1]
    },
  },
  debug: { library: ['readTape', 'stepsOf'], why: 'it is a prompt over these' },
  fork: { library: ['fork'], tested: [story('what if: a fork, and injected faults')] },
  doctor: { library: ['diagnose'], tested: [story('its replay is the same, asks no model, and another agent is red')] },
  blame: { library: ['blame'], tested: [story('a model that decided badly is blamed, within a limit')] },
  chaos: { library: ['chaos'], tested: [story('what if: a fork, and injected faults')] },
  validate: { library: ['validateBlame'], why: 'a matcher of hand-written tests, see docs/validate-own-agent.md' },
  tapes: {
    library: ['openRecordings'],
    same: async ({ recordings, tape }) => {
      const held = await openRecordings(recordings)
      const { hold } = await json<{ hold: { reason: string } }>(
        ...['tapes', 'hold', tape, '--reason', 'claim 7', '--dir', recordings],
      )
      const pruned = await json<{ removed: unknown; held: unknown }>('tapes', 'prune', '--dry-run', '--dir', recordings)
      const { removed, held: kept } = await held.prune({ dryRun: true })
      return [
        [hold.reason, pruned.removed, pruned.held],
        [held.hold(tape, 'claim 7').reason, removed, kept],
      ]
    },
  },
}

async function json<T>(...line: readonly string[]): Promise<T> {
  const { stdout, stderr } = await inProcess([...line, '--json'])
  expect(stdout, stderr).not.toBe('')
  return JSON.parse(stdout) as T
}

const listed = specs.filter(({ group, isApart }) => group !== undefined || isApart === true).map(({ name }) => name)
const page = readFileSync(resolve(import.meta.dirname, '../../docs/library.md'), 'utf8')
const words = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
const documented = new Map(
  page
    .split('## Reference')[0]!
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .flatMap(([commands, code]) => words(commands).map((command) => [command, words(code)] as const)),
)

describe('each command, from code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitest-harvest-commands-'))
  let given: Folder
  beforeAll(async () => {
    const recordings = join(folder, 'recordings')
    const tape = await recordRefund(join(recordings, 'inbox'))
    const har = join(folder, 'run.har')
    writeFileSync(har, (await exportTape(tape, { format: 'har' })).text)
    const [imported] = await importTapes(har, { agent: 'refund', into: recordings })
    mkdirSync(join(recordings, 'golden'))
    writeFileSync(join(recordings, 'golden/broken.case.yaml'), 'agent: refund\ntape: nowhere.tape.jsonl\n')
    given = { recordings, tape, other: imported!.file!, har }
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each<[name: string, into?: string]>([['missing.yaml'], ['missing.yaml', 'into'], ['.']])(
    'importTapes refuses %s with a code of its own; into: %s',
    async (name, into) => {
      const importing = importTapes(join(folder, name), into === undefined ? {} : { into: join(folder, into) })
      await expect(importing).rejects.toMatchObject({ code: 'HARVEST_IMPORT_MISSING' })
    },
  )

  it('has a row here: a command that is added needs one', () => {
    expect(Object.keys(rows).sort()).toEqual([...listed].sort())
  })

  it.each(Object.entries(rows).filter(([, row]) => 'same' in row))('%s: the same result', async (_, row) => {
    if (!('same' in row)) return
    const [command, library] = await row.same(given)
    expect(library).toEqual(command)
  })

  it.each(Object.entries(rows))('%s: docs/library.md names what does it, and it is exported', (name, row) => {
    for (const one of row.library) expect(documented.get(name), one).toContain(one)
    const outside = ['startVitest', 'VITEST_HARVEST_UPDATE=questions', 'validateBlame']
    const exported = { ...recordEntry, ...tapeEntry, ...root }
    for (const one of row.library) if (!outside.includes(one)) expect(exported).toHaveProperty(one)
  })

  it.each(Object.entries(rows).filter(([, row]) => 'tested' in row))('%s: the test it names is there', (_, row) => {
    if (!('tested' in row)) return
    for (const one of row.tested) {
      const [file = '', title = ''] = one.split(' › ')
      const path = resolve(import.meta.dirname, '../..', file)
      expect(readFileSync(path, 'utf8').includes(title), one).toBe(true)
    }
  })
})
