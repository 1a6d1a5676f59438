import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { VerdictName } from '../../src/replay/index.ts'
import { currentFlags, encodeValue, headersFlag, serializeTape } from '../../src/tape/index.ts'
import { openDesk } from '../cli/desk.ts'
import type { Answered } from '../cli/harvest.ts'
import { many } from '../cli/many.ts'
import { type InlineProject, openHome, type RunResult } from './inline.ts'
import type { ReportedTest } from './reports.ts'
import { type Column, columns } from './verdict-columns.ts'
import {
  agentOf,
  baseline,
  finalAnswer,
  recorded,
  refundArguments,
  type Scenario,
  scenarios,
} from './verdict-scenarios.ts'

/*
 * Every command and every report says one verdict about one run, and its exit code is 0 for `same` alone. Rows are
 * scenarios, columns are commands and reports; a cell is read from what that command or report itself wrote.
 */

/** What one command says about one scenario. `refused`: it does not judge such a tape. */
interface Cell {
  readonly exit: number | null
  readonly word: VerdictName | 'refused'
}

const verdictKeys = ['accepted', 'differences', 'notJudged', 'unproven', 'verdict']
const local = { HARVEST_ALLOW_CI_UPDATE: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
const groups = ['same', 'different', 'unproven'] as const
const folderOf = ({ verdict }: Scenario): string => `golden/${verdict}`
const nameOf = (scenario: Scenario): string => `${folderOf(scenario)}/${scenario.id}`
const liveOf = ({ live, verdict }: Scenario): VerdictName => live ?? (verdict === 'unproven' ? 'same' : verdict)

const isKnownBad = ({ more = '' }: Scenario): boolean => more.includes('expect: fail')
const tagOf = (scenario: Scenario): string => `${isKnownBad(scenario) ? 'bad' : 'good'}-${liveOf(scenario)}`
const tags = [...new Set(scenarios.map(tagOf))]

function tapeOf(scenario: Scenario): string {
  const { input, events, outcome } = recorded(scenario)
  const header = {
    harvest: 1 as const,
    id: scenario.id,
    agent: scenario.id,
    input: encodeValue(input),
    startedAt: '2026-01-02T03:04:05.000Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: scenario.tape === 'import' ? currentFlags : [...currentFlags, headersFlag],
    pins: { node: '24.21.0' },
    ...(scenario.tape === 'import' && {
      imported: { format: 'har', grade: 'replayable' as const, missing: ['outcome'] },
    }),
  }
  return serializeTape(header, events, { n: 99, at: 99, outcome })
}

function filesOf(scenario: Scenario): Record<string, string> {
  const { id, more = '' } = scenario
  const expected = more.includes('expect:') ? '' : 'expect: pass\n'
  const head = `case: ${id}\nagent: ${id}\ntape: ${id}.tape.jsonl\n${expected}tags: [${tagOf(scenario)}]\n`
  const checked = scenario.tape === 'import' ? baseline.replace(/outcome:.*\n/, '') : baseline
  return {
    [`src/${id}.ts`]: agentOf(scenario),
    [`recordings/${nameOf(scenario)}.case.yaml`]: `${head}${more}${checked}`,
    [`recordings/${nameOf(scenario)}.tape.jsonl`]: tapeOf(scenario),
  }
}

function handWritten(scenario: Scenario, at: number): string {
  const { id, more = '' } = scenario
  const policy = /drift: (\{.*\})/.exec(more)?.[1]?.replace(/: (\w+)/, `: '$1'`)
  const drift = policy === undefined ? '' : `drift: ${policy},`
  return `{
const tape = 'recordings/${nameOf(scenario)}.tape.jsonl'
const agent = (input: unknown) => support${at}(input as { order: string })
test('hand ${id}', async () => {
  await replay(tape, agent, { ${drift} })
})
test('collect ${id}', async () => {
  const { verdict } = await replay(tape, agent, { ${drift} problems: 'collect' })
  expect(Object.keys(verdict).sort()).toEqual(${JSON.stringify(verdictKeys)})
  console.log('collected ${id} ' + verdict.verdict)
})
test('exact ${id}', async () => {
  const run = await replay(tape, agent, { ${drift} problems: 'collect' })
  let said = 'exact'
  try {
    expect(run).toReplayExactly()
  } catch (error) {
    said = String(error).includes('HARVEST_TAPE_GRADE') ? 'refused' : 'inexact'
  }
  console.log('compared ${id} ' + said)
})
}
`
}

/** The tests by hand of all scenarios with a verdict, in one file: a file each would cost a worker each. */
function byHand(some: readonly Scenario[]): string {
  return `import { expect, test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
${some.map(({ id }, at) => `import { support as support${at} } from '../../src/${id}.ts'\n`).join('')}
${some.map(handWritten).join('')}`
}

const files = (some: readonly Scenario[]): Record<string, string> => ({
  'vitest.config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({
  plugins: [harvest({ agents: ${JSON.stringify(Object.fromEntries(some.map(({ id }) => [id, `./src/${id}.ts#support`])))} })],
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 600_000,
    tags: ${JSON.stringify(tags.map((name) => ({ name })))},
  },
})
`,
  ...Object.assign({}, ...some.map(filesOf)),
  ...Object.fromEntries(
    [...Map.groupBy(some, ({ verdict }) => verdict)].map(([group, own]) => [`test/${group}/hand.test.ts`, byHand(own)]),
  ),
})

/** One verdict as a command writes it, with all its keys. */
function verdictIn(text: string): VerdictName {
  const { verdict } = JSON.parse(text) as { readonly verdict: { readonly verdict: VerdictName } }
  expect(Object.keys(verdict).sort()).toEqual(verdictKeys)
  return verdict.verdict
}

const only = (found: RegExpExecArray | null, what: string): VerdictName => {
  const word = found?.[1]
  if (word === undefined) throw new Error(`no verdict in ${what}`)
  return word as VerdictName
}

const ofCode = (code: string | undefined): VerdictName =>
  code === undefined ? 'same' : code === 'HARVEST_UNPROVEN' ? 'unproven' : 'different'

const ofType = (type: string | undefined): VerdictName =>
  type === undefined ? 'same' : type === 'HarvestUnproven' ? 'unproven' : 'different'

describe('one run has one verdict', { tags: 'thorough' }, () => {
  const home = openHome(5)
  const table = new Map<string, Map<Column, Cell>>()
  let project: InlineProject
  let failed: readonly string[] = []
  let closeModel = async (): Promise<void> => undefined

  const set = ({ id }: Scenario, column: Column, cell: Cell): void => {
    const row = table.get(id) ?? new Map<Column, Cell>()
    if (row.has(column)) throw new Error(`${id} × ${column} is visited twice`)
    table.set(id, row.set(column, cell))
  }
  const harvest = (args: readonly string[], env = {}): Promise<RunResult> =>
    project.run(args, { bin: 'harvest', env: { ...local, ...env } })

  beforeAll(async () => {
    project = home.project('table', files(scenarios))
    await accept(project, harvest)
    const desk = await openDesk((messages) =>
      messages.length === 2 ? { tool: 'refund', args: refundArguments } : finalAnswer.content,
    )
    closeModel = desk.close
    failed = await inTurn([
      ...groups.map((group) => () => vitestColumns(group)),
      ...groups.flatMap((group) => [() => acceptText(group), () => acceptJson(group)]),
      ...tags.map((tag) => () => live(tag, desk.url)),
      ...scenarios.map((scenario) => () => promote(scenario)),
    ])
    // Last, for it holds this process up. All in one process: each scenario has its agent in a file of its own.
    replays()
  })
  afterAll(async () => {
    await closeModel()
    home[Symbol.dispose]()
  })

  /** All reports of one run of Vitest. */
  async function vitestColumns(group: VerdictName): Promise<void> {
    const reporters = ['default', 'junit', 'github-actions'].map((name) => `--reporter=${name}`)
    const summary = `${group}.md`
    project.write(summary, '')
    const { code, stdout, stderr } = await harvest(
      ['test', '--json', `/${group}/`, ...reporters, `--outputFile.junit=${group}.xml`],
      { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path.join(project.folder, summary) },
    )
    const report = JSON.parse(stdout) as { testResults: { assertionResults: ReportedTest[] }[] }
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    const testOf = (name: string): ReportedTest => {
      const found = tests.find(({ fullName }) => fullName === name || fullName.startsWith(`${name} `))
      if (found === undefined) throw new Error(`no test ${name} in\n${stderr}`)
      return found
    }
    for (const scenario of scenarios.filter(({ verdict }) => verdict === group)) {
      const { id } = scenario
      const name = nameOf(scenario)
      const { status, meta } = testOf(name)
      const { verdict, code: error, questions } = meta.harvest ?? {}
      expect([id, status]).toEqual([id, verdict === 'same' ? 'passed' : 'failed'])
      expect([id, ofCode(error as string | undefined)]).toEqual([id, verdict])
      const { unproven } = questions as { unproven: { key: string }[] }
      expect([id, verdict === 'unproven' && unproven.length === 0]).toEqual([id, false])
      set(scenario, 'vitest: JSON report', { exit: code, word: verdict as VerdictName })
      set(scenario, 'vitest: JUnit', { exit: code, word: junit(project.read(`${group}.xml`), name) })
      set(scenario, 'vitest: terminal', { exit: code, word: terminal(stderr, name) })
      set(scenario, 'vitest: GitHub annotation', { exit: code, word: annotation(stderr, id) })
      set(scenario, 'vitest: GitHub step summary', { exit: code, word: stepSummary(project.read(summary), name) })
      const hand = testOf(`hand ${id}`)
      const [message = ''] = hand.failureMessages
      set(scenario, 'replay()', {
        exit: code,
        word: hand.status === 'passed' ? 'same' : ofCode(/\((HARVEST_UNPROVEN)\)/.exec(message)?.[1] ?? 'other'),
      })
      const { harvestReplay } = hand.meta as { readonly harvestReplay?: { readonly verdict: VerdictName } }
      set(scenario, 'replay(): meta', { exit: code, word: harvestReplay?.verdict ?? 'refused' })
      const collected = new RegExp(`^collected ${id} (\\w+)$`, 'm').exec(stderr)
      set(scenario, `replay() with problems: 'collect'`, { exit: code, word: only(collected, stderr) })
      const exact = new RegExp(`^compared ${id} (\\w+)$`, 'm').exec(stderr)?.[1]
      const exit = { exact: 0, inexact: 1, refused: 2 }[exact ?? ''] ?? null
      set(scenario, 'toReplayExactly()', { exit, word: exact === 'refused' ? 'refused' : group })
    }
  }

  async function acceptText(group: VerdictName): Promise<void> {
    const some = scenarios.filter(({ verdict }) => verdict === group)
    const { code, stdout } = await harvest(['accept', '--list', ...some.map(({ id }) => id)])
    expect(only(/^verdict: (\w+)$/m.exec(stdout), stdout)).toBe(group)
    for (const scenario of some) {
      const rows = stdout.split('\n').filter((line) => new RegExp(`${nameOf(scenario)}(?![\\w-])`).test(line))
      const isDifferent = rows.some((row) => row.startsWith('different: '))
      const word = isDifferent ? 'different' : rows.some((row) => / unproven /.test(row)) ? 'unproven' : 'same'
      set(scenario, 'npx vitest-harvest accept --list', { exit: code, word })
    }
  }

  async function acceptJson(group: VerdictName): Promise<void> {
    const some = scenarios.filter(({ verdict }) => verdict === group)
    const { code, stdout } = await harvest(['accept', '--list', '--json', ...some.map(({ id }) => id)])
    const report = JSON.parse(stdout) as {
      verdict: VerdictName
      unproven: { names: string[] }[]
      different: string[]
    }
    expect(report.verdict).toBe(group)
    for (const scenario of some) {
      const name = nameOf(scenario)
      const isAsking = report.unproven.some(({ names }) => names.includes(name))
      const word = report.different.includes(name) ? 'different' : isAsking ? 'unproven' : 'same'
      set(scenario, 'npx vitest-harvest accept --list --json', { exit: code, word })
    }
  }

  async function live(tag: string, url: string): Promise<void> {
    const args = ['rerun', '--tag', tag, '--live', '--runs', '1', '--json', '--cross-version']
    const { code, stdout } = await harvest(args, { MODEL_URL: url })
    const { cases } = JSON.parse(stdout) as { cases: { case: string; verdicts: Record<VerdictName, number> }[] }
    for (const scenario of scenarios.filter((one) => tagOf(one) === tag)) {
      const counts = cases.find((one) => one.case === scenario.id)?.verdicts
      const word = groups.find((name) => counts?.[name] === 1) ?? 'refused'
      set(scenario, 'npx vitest-harvest rerun --json', { exit: code, word })
    }
  }

  function replays(): void {
    const lines = scenarios.flatMap(({ id }) =>
      ['replay', 'verify'].flatMap((command) => {
        const line = [command, id, '--agent', `./src/${id}.ts#support`]
        return [line, [...line, '--json']]
      }),
    )
    const answers = many(lines, project.folder, local)
    for (const [at, scenario] of scenarios.entries()) {
      const readers = [replayText, replayJson, verifyText, verifyJson]
      for (const [i, read] of readers.entries()) read(scenario, answers[at * readers.length + i]!)
    }
  }

  function replayText(scenario: Scenario, { code, stderr }: Answered): void {
    set(scenario, 'npx vitest-harvest replay', {
      exit: code,
      word: only(lineOf(scenario, 'harvest: ').exec(stderr), stderr),
    })
  }

  function replayJson(scenario: Scenario, { code, stdout }: Answered): void {
    expect(JSON.parse(stdout)).toMatchObject({ held: code === 0, transcoded: [], notCompared: expect.any(Array) })
    set(scenario, 'npx vitest-harvest replay --json', { exit: code, word: verdictIn(stdout) })
  }

  function verifyText(scenario: Scenario, { code, stdout, stderr }: Answered): void {
    const isRefused = stderr.includes('(HARVEST_TAPE_GRADE)')
    if (!isRefused) expect([scenario.id, stdout.includes('; bit-exact')]).toEqual([scenario.id, code === 0])
    const word = isRefused ? 'refused' : only(lineOf(scenario, '').exec(stdout), stdout + stderr)
    set(scenario, 'npx vitest-harvest replay --exact', { exit: code, word })
  }

  function verifyJson(scenario: Scenario, { code, stdout }: Answered): void {
    const { error, exact } = JSON.parse(stdout) as { error?: { code: string }; exact?: boolean }
    const isRefused = error?.code === 'HARVEST_TAPE_GRADE'
    if (!isRefused) expect([scenario.id, exact]).toEqual([scenario.id, code === 0])
    set(scenario, 'npx vitest-harvest replay --exact --json', {
      exit: code,
      word: isRefused ? 'refused' : verdictIn(stdout),
    })
  }

  async function promote(scenario: Scenario): Promise<void> {
    const { id, more = '', tape } = scenario
    const file = `recordings/${nameOf(scenario)}.tape.jsonl`
    const known = more.includes('expect: fail') ? ['--expect', 'fail'] : []
    const unknown = tape === 'import' ? ['--baseline'] : []
    const { code, stdout } = await harvest([
      'promote',
      file,
      '--as',
      id,
      '--dir',
      'promoted',
      ...known,
      ...unknown,
      '--json',
    ])
    const { error } = JSON.parse(stdout) as { error?: { code: string } }
    expect([id, error?.code]).toEqual([id, code === 0 ? undefined : 'HARVEST_PROMOTE_DIVERGED'])
    set(scenario, 'npx vitest-harvest promote --json', { exit: code, word: verdictIn(stdout) })
  }

  it.each(scenarios.map((scenario) => [scenario.id, scenario] as const))('%s', (id, scenario) => {
    const row = table.get(id)
    const wrong = columns.flatMap((column) => {
      const [said, wanted] = [row?.get(column), expected(scenario, column)].map(cellText)
      return said === wanted ? [] : [`${column}: ${said}, and not ${wanted}`]
    })
    expect(wrong.join('\n')).toBe('')
  })

  it('is documented by what was seen', () => {
    const cells = [...table.values()].flatMap((row) => [...row])
    const codes = (column: Column, name: VerdictName): string => {
      const seen = cells.filter(([of, { word }]) => of === column && word === name).map(([, { exit }]) => exit)
      return seen.length === 0 ? '–' : [...new Set(seen)].sort().join(', ')
    }
    const rows = columns.map(
      (column) => `| ${[`\`${column}\``, ...groups.map((name) => codes(column, name))].join(' | ')} |`,
    )
    const lines = [`| Exit code | ${groups.map((name) => `\`${name}\``).join(' | ')} |`, '|---|---|---|---|', ...rows]
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/ci.md'), 'utf8')
    const shown = /<!-- verdict-table -->\n([^]*?)<!-- \/verdict-table -->/.exec(page)?.[1]
    expect(shown?.trim()).toBe(lines.join('\n'))
  })

  it('has no cell that was not visited, and none that contradicts itself', () => {
    expect(failed.join('\n')).toBe('')
    const visited = [...table.values()].reduce((sum, row) => sum + row.size, 0)
    expect(visited).toBe(scenarios.length * columns.length)
  })
})

/** How a run can end without what it accepts being written, as its reporter makes it end. */
const ends = `import { appendFileSync } from 'node:fs'
export default class {
  left = 0
  stop: (() => unknown) | undefined
  onInit(vitest: { cancelCurrentRun(reason: string): unknown }) { this.stop = () => vitest.cancelCurrentRun('keyboard-input') }
  onTestRunStart(files: unknown[]) { this.left = files.length }
  onTestModuleEnd({ moduleId }: { moduleId: string }) {
    if (process.env.ENDS === 'edited' && moduleId.endsWith('outcome.case.yaml')) appendFileSync(moduleId, '# edited\\n')
    if (--this.left === 0 && process.env.ENDS === 'interrupted') void this.stop?.()
  }
}
`

describe('an update that is not written is red in every report', { tags: 'thorough' }, () => {
  const home = openHome(5)
  const some = scenarios.filter(({ id }) => id === 'outcome' || id === 'instructions')
  const sources = {
    ...files(some),
    'ends.ts': ends,
    'test/stray.test.ts': `import { test } from 'vitest'
test('is green', () => { if (process.env.ENDS === 'stray') void Promise.reject(new Error('stray')) })
`,
  }
  const project = home.project('unwritten', sources)
  afterAll(() => home[Symbol.dispose]())

  it.each([
    ['of a shard', ['--shard=1/1'], '', 'HARVEST_UPDATE_PARTIAL'],
    ['of a run with other errors', [], 'stray', 'HARVEST_UPDATE_STOPPED'],
    ['of an interrupted run', [], 'interrupted', 'HARVEST_UPDATE_STOPPED'],
    ['of a case that was edited', [], 'edited', 'HARVEST_UPDATE_STOPPED'],
  ])('%s', async (_, words, how, code) => {
    for (const [file, text] of Object.entries(sources)) project.write(file, text)
    project.write('summary.md', '')
    rmSync(path.join(project.folder, 'recordings/accepted.yaml'), { force: true })
    const reporters = ['default', 'junit', 'github-actions', './ends.ts'].map((name) => `--reporter=${name}`)
    const update = ['--update-recordings', '--reason', 'right', '--outputFile.junit=unit.xml']
    const summary = path.join(project.folder, 'summary.md')
    const run = await project.run(['test', '--json', ...words, ...update, ...reporters], {
      bin: 'harvest',
      env: { ...local, ENDS: how, GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary },
    })
    expect(run.code, run.stderr).toBe(1)
    const report = JSON.parse(run.stdout) as { success: boolean; testResults: { assertionResults: ReportedTest[] }[] }
    expect(report.success).toBe(false)
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    for (const scenario of some.filter(({ id }) => how !== 'edited' || id === 'outcome')) {
      const { id, verdict } = scenario
      const name = nameOf(scenario)
      const file = `recordings/${name}.case.yaml`
      expect([id, project.read(file).replace('# edited\n', '')]).toEqual([id, filesOf(scenario)[file]])
      const [of] = tests.filter(({ fullName }) => fullName.startsWith(`${name} `))
      expect([id, of?.status, of?.meta.harvest]).toEqual([id, 'failed', expect.objectContaining({ code, verdict })])
      expect(of?.failureMessages.join('')).toContain(`(${code})`)
      expect([id, junit(project.read('unit.xml'), name)]).toEqual([id, verdict])
      expect([id, terminal(run.stderr, name)]).not.toEqual([id, 'same'])
      const lines = run.stderr
        .split('\n')
        .filter((line) => new RegExp(`^::error file=[^,]*/${id}.case.yaml,`).test(line))
      expect([id, lines.length, annotation(lines.join('\n'), id)]).toEqual([id, 1, verdict])
      expect([id, stepSummary(project.read('summary.md'), name)]).not.toEqual([id, 'same'])
    }
    // Of a hand-written test, what was accepted is written for all.
    const hand = tests.find(({ fullName }) => fullName === 'hand instructions')
    expect([hand?.status, project.search('recordings', /reason: right/).length > 0]).toEqual(
      how === 'edited' ? ['passed', true] : ['failed', false],
    )
  })
})

/** Exit code 0 means `same`; `replay --exact` and `toReplayExactly()` want more than that. */
function expected(scenario: Scenario, column: Column): Cell {
  const { verdict, promoted, isExact, tape } = scenario
  const isStrict = column.includes('--exact') || column === 'toReplayExactly()'
  if (isStrict && tape === 'import') return { exit: 2, word: 'refused' }
  // A live run of a known-bad case passes when it does not go the recorded way.
  if (column.includes('rerun'))
    return { exit: (liveOf(scenario) === 'same') === isKnownBad(scenario) ? 1 : 0, word: liveOf(scenario) }
  const word = column.includes('promote') ? (promoted ?? verdict) : verdict
  return { exit: word === 'same' && (!isStrict || isExact) ? 0 : 1, word }
}

const cellText = (cell: Cell | undefined): string => (cell === undefined ? 'not visited' : `${cell.word}, ${cell.exit}`)

const lineOf = ({ id }: Scenario, before: string): RegExp => new RegExp(`^${before}${id}: (\\w+)(?:;|$)`, 'm')

function junit(xml: string, name: string): VerdictName {
  const found = xml.split('<testcase ').find((part) => part.includes(`name="${name} &gt; replays"`))
  if (found === undefined) throw new Error(`no ${name} in ${xml}`)
  const word = ofType(/<failure [^>]*type="(\w+)"/.exec(found)?.[1])
  if (word !== 'same') expect(found).toContain(`<property name="verdict" value="${word}">`)
  if (word === 'unproven')
    expect(found).toMatch(/<property name="changed" value="[^"]+">[^]*<property name="keys" value=/)
  return word
}

function terminal(text: string, name: string): VerdictName {
  const block = text.split(/\n FAIL /).find((part) => part.split('\n', 1)[0]?.includes(`${name} > replays`))
  return ofType(block === undefined ? undefined : /^(Harvest\w+): /m.exec(block)?.[1])
}

function annotation(text: string, id: string): VerdictName {
  const line = text.split('\n').find((one) => one.startsWith('::error ') && one.includes(`/${id}.case.yaml`))
  return line === undefined ? 'same' : ofType(/::(Harvest\w+)%?:? ?/.exec(line)?.[1] ?? 'none')
}

function stepSummary(page: string, name: string): VerdictName {
  const block = page.split('\n### ').find((part) => part.startsWith(`\`${name}\``))
  return ofCode(block === undefined ? undefined : /\((HARVEST_\w+)\)/.exec(block)?.[1])
}

/** Runs two at a time. */
async function inTurn(jobs: readonly (() => Promise<void>)[]): Promise<readonly string[]> {
  const left = jobs.values()
  const failed: string[] = []
  await Promise.all(
    [1, 2].map(async () => {
      for (const job of left) await job().catch((error: unknown) => void failed.push(String(error)))
    }),
  )
  return failed
}

/** Accepts the change of the scenario `accepted` for everybody who has it, as a person would after a look at it. */
async function accept(project: InlineProject, harvest: (args: readonly string[]) => Promise<RunResult>): Promise<void> {
  const { stdout } = await harvest(['replay', 'accepted', '--agent', './src/accepted.ts#support', '--json'])
  const { verdict } = JSON.parse(stdout) as {
    verdict: { unproven: { key: string; class: string; words: string; was: string; now: string }[] }
  }
  const [question] = verdict.unproven
  expect(question).toBeDefined()
  const { key, class: what, words, was, now } = question!
  const entry = { key, what, words, was, now, reason: 'the limit was raised' }
  project.write('recordings/accepted.yaml', `accepted:\n  - ${JSON.stringify(entry)}\n`)
}
