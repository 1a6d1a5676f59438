import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readTape, serializeTape } from '../../src/tape/index.ts'
import { type Answered, scratch, warmRun as run } from '../cli/harvest.ts'
import { many } from '../cli/many.ts'
import { built } from '../support/built.ts'
import { addAgents, agentsIn, clients, openProject, type Project } from './project.ts'

interface Report {
  readonly clean: boolean
  readonly findings: readonly {
    readonly file?: string
    readonly line?: number
    readonly sources: readonly { readonly kind: string; readonly name: string; readonly fix: readonly string[] }[]
    readonly tapes: readonly string[]
  }[]
  readonly tapes: readonly {
    readonly tape: string
    readonly asRecorded: boolean
    readonly harmless: readonly { name: string }[]
    readonly notVaried: readonly { name: string }[]
    readonly undecided: readonly { name: string; ways: readonly string[] }[]
  }[]
  readonly failed: readonly unknown[]
}

const planted = agentsIn('doctor/planted')
const own = agentsIn('doctor/clean')
const clean = { ...own, ...Object.fromEntries(clients.map((name) => [name, `fixtures/agents/${name}.ts`])) }

/** Each of them depends on one property of what it reads, and on no other. */
const parts = [
  'basename(process.cwd())',
  'process.cwd().split("/").length',
  'process.argv.length',
  'process.argv.length > 40',
  'process.ppid % 2',
  'process.umask() === 0',
  'statfsSync(".").blocks',
  'process.uptime() > 24 * 3600',
  'os.uptime() > 3600',
  'os.totalmem() > 1e12',
  'os.totalmem() < 1e9',
  'os.cpus().length > 64',
  'Object.keys(os.networkInterfaces()).length',
  'Object.keys(os.networkInterfaces())[0]',
]
const otherParts = [
  'basename(os.homedir())',
  'basename(os.tmpdir())',
  'os.tmpdir().split("/").length',
  'os.hostname().split(".").length',
  'os.hostname()[0]',
  'process.platform === "darwin"',
  'Number(process.version.split(".")[1]) > 5_000 || Number(process.version.split(".")[1])',
  'readFileSync("var/notes.txt", "utf8").split("\\n").length',
  'readFileSync("var/notes.txt", "utf8").split(" ")[0]',
  'new Date(2026, 0, 1).getTimezoneOffset() % 60',
  'basename(process.env["PWD"] ?? "")',
  'new Intl.PluralRules().select(1)',
]

let project: Project
let report: Report
let cleanReport: Report
let cleanCode: number | null

beforeAll(async () => {
  project = await openProject({ ...planted, ...clean })
  addStranger(join(project.folder, 'recordings/inbox'))
  const sick = await doctor([...Object.keys(planted), 'stranger', '--json'])
  expect(sick).toMatchObject({ code: 1, stderr: '' })
  report = JSON.parse(sick.stdout) as Report
  const well = await doctor([...Object.keys(clean), '--json'])
  cleanCode = well.code
  cleanReport = JSON.parse(well.stdout) as Report
  return () => project[Symbol.dispose]()
})

function doctor(words: readonly string[]): Promise<Answered> {
  return run(process.execPath, [built('cli/main.js'), 'doctor', ...words], { cwd: project.folder, env: project.env })
}

describe('a source of irreproducibility is named, with its line and kind, and nothing else', () => {
  it('there are at least 20 of them', () => {
    expect(Object.keys(planted).length).toBeGreaterThanOrEqual(20)
    expect(report.tapes.map(({ tape }) => tape).sort()).toEqual(Object.keys(planted).sort())
  })

  it.each(Object.entries(planted))('%s', (name, file) => {
    const found = report.findings.filter(({ tapes }) => tapes.includes(name))
    expect(
      found.map((one) => ({ file: one.file, line: one.line, kinds: one.sources.map(({ kind }) => kind) })),
    ).toEqual([{ file, ...markerIn(file) }])
  })
})

describe('an agent that depends on nothing but its tape has no findings', () => {
  it('there are at least 20 of them, most with real clients', () => {
    expect(Object.keys(clean).length).toBeGreaterThanOrEqual(20)
    expect(cleanReport.failed).toEqual([])
    expect(cleanReport.tapes.map(({ tape }) => tape).sort()).toEqual(Object.keys(clean).sort())
  })

  it.each(Object.keys(clean))('%s', (name) => {
    expect(cleanReport.findings.filter(({ tapes }) => tapes.includes(name))).toEqual([])
    expect(cleanReport.tapes.find(({ tape }) => tape === name)).toMatchObject({ asRecorded: true })
  })

  it('nor has one whose variable the Vitest config sets, as the advice says', { tags: 'thorough' }, async () => {
    const told = report.findings
      .filter(({ tapes }) => tapes.includes('region-from-environment'))
      .flatMap(({ sources }) => sources.flatMap(({ fix }) => fix))
    const advice = told.find((line) => line.includes('in vitest.config.ts'))
    const set = /test: \{.*\}$/.exec(advice ?? '')?.[0].replace('…', 'eu-north')
    expect(set).toBe("test: { env: { SHOP_REGION: 'eu-north' } }")
    const file = join(project.folder, 'vitest.config.ts')
    const config = readFileSync(file, 'utf8')
    writeFileSync(file, config.replace('plugins:', `${set}, plugins:`))
    const again = await doctor(['region-from-environment', '--json'])
    writeFileSync(file, config)
    expect(JSON.parse(again.stdout)).toMatchObject({ clean: true, findings: [] })
  })

  it('where an address decides what is said, the advice is to keep it out, and records no address', () => {
    const [found] = report.findings.filter(({ tapes }) => tapes.includes('address-decides'))
    expect(found?.sources.map(({ fix }) => fix)).toEqual([
      [expect.stringContaining('keep it out of what the agent says') as string, 'or pass it in with the input'],
    ])
  })

  it('the exit code is 0', () => {
    expect(cleanCode).toBe(0)
    expect(cleanReport.clean).toBe(true)
  })

  it('what was asked without effect is listed all the same', () => {
    const logs = cleanReport.tapes.find(({ tape }) => tape === 'logs-its-pid')
    expect(logs?.harmless.map(({ name }) => name)).toEqual(['process.pid', 'process.uptime()'])
    // A text can be compared with any other.
    expect(logs?.undecided.map(({ name }) => name)).toEqual(['os.hostname()'])
    const besidesFile = report.tapes.find(({ tape }) => tape === 'absent-file')?.harmless
    expect(besidesFile).toEqual([])
  })
})

describe('a variable that changed nothing with the values that were tried', () => {
  it('is not said to be without effect: the values are named, and how to try another one', {
    tags: 'thorough',
  }, async () => {
    const of = cleanReport.tapes.find(({ tape }) => tape === 'long-setting')
    expect(of?.harmless.filter(({ name }) => name.startsWith('process.env'))).toEqual([])
    expect(of?.undecided.find(({ name }) => name.includes('SHOP_NOTE'))?.ways).toEqual(
      expect.arrayContaining(['set to "altered"', 'set to "7"', 'set to " Odd."']),
    )
    const { code, stdout } = await doctor(['long-setting', '--verbose'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/nothing found; 1 variable not known to matter\n/)
    expect(stdout).toMatch(
      / environment: process\.env\.SHOP_NOTE at .*long-setting\.ts:5:\d+: tried set to "altered", /,
    )
    expect(stdout.split('not known to matter:')).toHaveLength(2)
    expect(stdout.split('not known to matter:')[0]).not.toContain('process.env')
    const words = /→ to see the run with a value of yours: (.*)\n/.exec(stdout)?.[1]
    expect(words).toBe("SHOP_NOTE='<value>' npx vitest-harvest show long-setting --replay")
    const set = { ...project.env, SHOP_NOTE: 'x'.repeat(31) }
    const shown = await run(process.execPath, [built('cli/main.js'), 'show', 'long-setting', '--replay'], {
      cwd: project.folder,
      env: set,
    })
    expect(shown.stdout).toContain('Odd.')
  })
})

describe('a part of an answer', () => {
  it.each([
    ['another size, number and place', parts],
    ['another part of a place, of a name and of a time', otherParts],
  ])('is found where only that decides: %s', { tags: 'thorough' }, async (_, lines) => {
    const file = join(project.folder, 'vitest.config.ts')
    const config = readFileSync(file, 'utf8')
    mkdirSync(join(project.folder, 'var/empty'), { recursive: true })
    const text = `import { readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import os from 'node:os'
import { ask, type Input } from '../ask.ts'
export async function agent(input: Input): Promise<string> {
  const parts = [
${lines.map((line) => `    ${line},\n`).join('')}  ]
  return ask(input, JSON.stringify(parts))
}
`
    await addAgents(project, { parts: text })
    const { stdout } = await doctor(['parts', '--json'])
    writeFileSync(file, config)
    const found = new Set((JSON.parse(stdout) as Report).findings.map(({ line = 0 }) => text.split('\n')[line - 1]))
    expect(lines.filter((line) => !found.has(`    ${line},`))).toEqual([])
  })
})

describe('value() around what the advice names', () => {
  it('makes the run irreproducible no more', { tags: 'thorough' }, async () => {
    const texts: Record<string, string> = {}
    for (const { file = '', line = 0, sources, tapes } of report.findings) {
      const advice = sources.flatMap(({ fix }) => fix).find((one) => one.includes('value('))
      const [, call = '', expression = ''] = /(value\('\w+', \(\) => ([\w.]+(?:\(\))?)\))$/.exec(advice ?? '') ?? []
      const lines = readFileSync(join(project.folder, file), 'utf8').split('\n')
      const [name] = tapes
      const written = [expression, expression.replace(/^\w+\./, ''), expression.replace(/env\.(\w+)$/, "env['$1']")]
      const found = written.find((one) => one !== '' && lines[line - 1]?.includes(one))
      if (found === undefined || name === undefined) continue
      lines[line - 1] = lines[line - 1]?.replace(found, call) ?? ''
      if (advice?.startsWith('move it into the function of the agent')) {
        const [moved = ''] = lines.splice(line - 1, 1)
        lines.splice(lines.findIndex((one) => one.includes('function agent(')) + 1, 0, moved)
      }
      texts[`advised-${name}`] = [
        "import { value } from 'vitest-harvest/record'",
        "import * as os from 'node:os'",
        ...lines,
      ].join('\n')
    }
    const names = Object.keys(texts)
    expect(names.length).toBeGreaterThanOrEqual(4)
    const file = join(project.folder, 'vitest.config.ts')
    const config = readFileSync(file, 'utf8')
    await addAgents(project, texts)
    const { stdout } = await doctor([...names, '--json'])
    writeFileSync(file, config)
    const { findings, tapes } = JSON.parse(stdout) as Report
    expect(findings).toEqual([])
    expect(tapes.map(({ tape, asRecorded }) => [tape, asRecorded])).toEqual(names.map((name) => [name, true]))
  })
})

describe('an answer that changes the process for good', () => {
  it('is named alone: what is read behind it is not varied, and the tapes behind it are in another process', {
    tags: 'thorough',
  }, async () => {
    const file = join(project.folder, 'vitest.config.ts')
    const config = readFileSync(file, 'utf8')
    const hello = `import { ask, type Input } from '../ask.ts'
const shared = process as { isTraced?: boolean }
export async function agent(input: Input): Promise<string> {
  // here
  return ask(input, shared.isTraced ? 'Hello, traced.' : 'Hello.')
}
`
    const trace = `if (process.env['SHOP_TRACE'] !== undefined) shared.isTraced = true
  const asked = [process.env['SHOP_LOUD'], process.pid]`
    await addAgents(project, { traces: hello.replace('// here', trace), untraced: hello })
    const json = await doctor(['traces', 'untraced', '--json'])
    const text = await doctor(['traces'])
    writeFileSync(file, config)
    const { findings, tapes } = JSON.parse(json.stdout) as Report
    expect(findings.map(({ sources }) => sources.map(({ name }) => name))).toEqual([['process.env.SHOP_TRACE']])
    expect(tapes.map(({ tape, asRecorded, notVaried }) => ({ tape, asRecorded, notVaried }))).toMatchObject([
      { tape: 'traces', asRecorded: true, notVaried: [{ name: 'process.env.SHOP_LOUD' }, { name: 'process.pid' }] },
      { tape: 'untraced', asRecorded: true, notVaried: [] },
    ])
    expect(text.stdout).toMatch(
      /^traces: the process is no longer as it was, so that these were not varied\n {2}environment: process\.env\.SHOP_LOUD at /m,
    )
    expect(text.stdout).toContain('\n→ to examine these too, once that is changed: npx vitest-harvest doctor traces\n')
    expect(text.stdout).toMatch(/1 tape not examined to the end\n/)
    expect([json.code, text.code]).toEqual([1, 1])
  })
})

describe('harvest doctor without arguments', () => {
  it('looks over the project and into every case of the golden set', { tags: 'thorough' }, async () => {
    const made = await run(process.execPath, [built('cli/main.js'), 'promote', 'local-hour', '--as', 'greets'], {
      cwd: project.folder,
      env: project.env,
    })
    expect(made.code).toBe(0)
    const { code, stdout } = await doctor([])
    expect(code).toBe(1)
    expect(
      stdout.replaceAll(/It is \d+ o/g, 'It is N o').replaceAll(/(Node|Vitest) [\d.]+/g, '$1 N'),
    ).toMatchInlineSnapshot(`
      "✓ Node N
      ✓ Vitest N
      ✓ vitest.config.ts has harvest()
      ✓ git, at no commit yet
      ✓ git ignores recordings/inbox/
      ✓ the recorder knows the commit

      fixtures/doctor/planted/local-hour.ts:4:40
        time zone: Date#getHours()
        changes request POST /v1/chat/completions, messages[0].content
          was     It is N o'clock. Greet the customer.
          became  It is N o'clock. Greet the customer.  (Pacific/Kiritimati)
        → name the zone: { timeZone: 'UTC' } in the options, or getUTCHours(), toISOString()
        → record its answer: value('getHours', () => …)
        on tape greets

      1 tape, 6 replays: 1 place makes runs irreproducible
      "
    `)
  })

  it('says what is wrong with a project, and how to mend it', { tags: 'thorough' }, async () => {
    const folder = scratch()
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    const odd = "it's [here]"
    mkdirSync(join(folder, odd))
    const lines = [['doctor'], ['doctor', '--dir', odd]]
    const [plain, inOdd] = many(lines, folder)
    expect(plain?.code).toBe(1)
    expect(plain?.stdout.replaceAll(/(Node|Vitest) [\d.]+/g, '$1 N')).toMatchInlineSnapshot(`
      "✓ Node N
      ✗ Vitest is not installed here
        → npm install --save-dev vitest
      ! No Vitest config here
        → plugins: [harvest({ agents: { refund: './src/refund-agent.ts#refundAgent' } })]
      ✓ git, at no commit yet
      ✗ git does not ignore recordings/inbox/
        → echo recordings/inbox/ >> .gitignore

      no case to examine; 2 things wrong with the project
      → to record a first run: https://github.com/vitest-harvest/vitest-harvest/blob/main/docs/recording.md
      "
    `)
    // As printed, in a shell.
    for (const answer of [plain, inOdd])
      execFileSync('sh', ['-c', / → (echo .*)$/m.exec(answer?.stdout ?? '')?.[1] ?? 'false'], { cwd: folder })
    const ignored = many(lines, folder).map(({ stdout }) => stdout.split('\n').find((line) => line.includes('ignore')))
    expect(ignored).toEqual(['✓ git ignores recordings/inbox/', `✓ git ignores ${odd}/inbox/`])
  })
})

describe('what cannot be looked into', () => {
  it('a tape whose agent the config does not know is said to have failed, and the others are looked into', () => {
    expect(report.failed).toEqual([
      {
        tape: 'stranger',
        code: 'HARVEST_AGENT_UNKNOWN',
        what: 'Unknown agent: stranger',
      },
    ])
  })

  it('a run whose file is gone is said not to be looked at, with the file, and exit code 1', {
    tags: 'thorough',
  }, async () => {
    const file = join(project.folder, 'var/notes.txt')
    const text = readFileSync(file)
    rmSync(file)
    const { code, stdout } = await doctor(['ignored-file'])
    writeFileSync(file, text)
    expect(stdout).toMatch(/not there: file: fs\.readFile var\/notes\.txt at .*ignored-file\.ts:5:/)
    expect(stdout).toMatch(/it threw Error: ENOENT.*not looked at/)
    expect(stdout).toMatch(/nothing found; 1 tape not examined to the end\n$/)
    expect(code).toBe(1)
  })

  it('a run whose source is recorded by now, as the advice says, is said to need another recording', {
    tags: 'thorough',
  }, async () => {
    const file = join(project.folder, 'fixtures/doctor/planted/pid-in-prompt.ts')
    const code = readFileSync(file, 'utf8')
    const recorded = code.replace('process.pid', "value('pid', () => process.pid)")
    writeFileSync(file, `import { value } from 'vitest-harvest/record'\n${recorded}`)
    const { stdout } = await doctor(['pid-in-prompt'])
    writeFileSync(file, code)
    const left = 'The agent called "pid", which it never did when this run was recorded'
    expect(stdout).toContain(`\n  it left its tape: ${left}\n`)
    expect(stdout).not.toContain('⏎')
    expect(stdout).toContain('  → if that is right, after value() or tool() was put in: record the run again\n')
  })

  it('a tape that is not there is exit code 2', async () => {
    expect(await doctor(['nowhere'])).toMatchObject({ code: 2, stdout: '' })
  })
})

/** A tape of an agent that is not in the config. */
function addStranger(inbox: string): void {
  const { header, events, close } = readTape(join(inbox, 'local-hour.tape.jsonl'))
  const text = serializeTape({ ...header, agent: 'stranger', id: 'stranger' }, events, close)
  writeFileSync(join(inbox, 'stranger.tape.jsonl'), text)
}

/** Line and kind of the one marker of an agent: `// ← kind` on the line, or `// ↓ kind` above it. */
function markerIn(file: string): { line: number; kinds: readonly string[] } {
  const lines = readFileSync(join(import.meta.dirname, '../..', file), 'utf8').split('\n')
  const at = lines.findIndex((line) => /\/\/ [←↓] /.test(line))
  const [, arrow, kinds = ''] = /\/\/ ([←↓]) (.*)$/.exec(lines[at] ?? '') ?? []
  return { line: at + (arrow === '↓' ? 2 : 1), kinds: kinds.split(', ') }
}
