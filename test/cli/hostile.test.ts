import '../support/packed.ts'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CaseContent, writeCase } from '../../src/cases/index.ts'
import { specs } from '../../src/cli/spec/index.ts'
import type { Json, TapeEvent } from '../../src/tape/index.ts'
import { call, exchange, tapeText } from '../recordings/make.ts'
import { built } from '../support/built.ts'
import { findsHostile, hostilePayloads } from '../support/hostile.ts'
import { type Answered, harvest } from './harvest.ts'
import { thousands } from './many.ts'
import { configFor } from './project.ts'

// `tapes rm` runs what `rm` runs.
const commands = specs.filter(({ name }) => !name.startsWith('tapes'))

interface Payload {
  readonly id: string
  readonly text: string
}

// Half a surrogate pair is no text one can write into a file; it stands in the tape as an escape.
const payloads: readonly Payload[] = hostilePayloads.map(({ text }, at) => ({ id: `h${at}`, text }))
/** All of a class in one text, for what reads the whole golden set each time. */
const classes: readonly Payload[] = [...Map.groupBy(hostilePayloads, (one) => one.class)].map(([name, list]) => ({
  id: `c-${name}`,
  text: list.map(({ text }) => text).join(' '),
}))
const tapeOf = ({ id }: Payload): string => `recordings/inbox/${id}.tape.jsonl`
/** Names of files may hold anything but a slash and a NUL; half a pair is not written. */
const asName = ({ id, text }: Payload): string => `${id} ${text.toWellFormed().replaceAll(/[/\0]/g, '-').slice(0, 60)}`
const archiveOf = (one: Payload): string => `archives/${asName(one)}.har`
/** What a command line can hold. */
const asWord = ({ text }: Payload): string => text.toWellFormed().replaceAll('\0', '')

/**
 * The command lines that bring every payload through a command, `--json` too. A new command has to be given some: what
 * it prints of a tape or a case is otherwise not looked at.
 */
const recipes: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // What its program prints is the program's own.
  record: [['record', '--id', 'recorded', '--', 'node', 'program.js', ...payloads.slice(0, 20).map(asWord)]],
  replay: [['replay', tapeOf(payloads[0]!)], ...payloads.map((one) => ['replay', tapeOf(one), '--serve', asWord(one)])],
  verify: classes.map((one) => ['verify', tapeOf(one)]),
  ls: [
    ['ls'],
    ['ls', '--json'],
    ['ls', '--dir', 'recordings/inbox'],
    ...payloads.map((one) => ['ls', '--dir', asWord(one)]),
  ],
  show: [
    ...payloads.flatMap((one) => [
      ['show', tapeOf(one)],
      ['show', `recordings/golden/${asName(one)}.tape.jsonl`],
    ]),
    ...classes.map((one) => ['show', tapeOf(one), '--json']),
  ],
  promote: classes.flatMap((one) => [
    [
      'promote',
      tapeOf(one),
      '--as',
      `p-${one.id}`,
      '--title',
      asWord(one),
      '--lesson-wrong',
      asWord(one),
      '--tag',
      asWord(one),
    ],
    ['promote', tapeOf(one), '--as', `j-${one.id}`, '--json'],
    ['promote', tapeOf(one), '--as', asWord(one)],
  ]),
  check: [
    ['check'],
    ['check', '--json'],
    ...payloads.map((one) => ['check', asWord(one)]),
    ...payloads.map((one) => ['check', '--allow', asWord(one)]),
  ],
  validate: [
    ['validate', '--level', 'engine', '--family', 'F7.passing_run', '--json'],
    ...payloads.map((one) => ['validate', '--level', 'engine', '--family', asWord(one)]),
    ...classes.map((one) => ['validate', '--level', 'engine', '--check', '--report', asWord(one)]),
    ...classes.map((one) => ['validate', '--level', 'engine', '--seed', asWord(one), '--json']),
  ],
  // A folder that holds something is refused.
  demo: [['demo'], ['demo', '--json']],
  init: [
    ['init', '--dry-run'],
    ['init', '--dry-run', '--json'],
    ...payloads.map((one) => ['init', '--agent', asWord(one)]),
    ['init'],
    ['init', '--json'],
  ],
  accept: [
    ['accept', '--list'],
    ['accept', '--list', '--json'],
    ...payloads.slice(0, 3).map((one) => ['accept', '--change', asWord(one), '--reason', asWord(one)]),
  ],
  test: [
    ['test', '--json'],
    ['test', '--reporter=default'],
  ],
  report: [
    ...payloads.flatMap((one) => [['report', tapeOf(one), '-o', `reports/${asName(one)}.html`]]),
    ...classes.flatMap((one) => [
      ['report', asWord(one)],
      ['report', tapeOf(one), '--json'],
      ['report', tapeOf(one), '--against', asWord(one)],
    ]),
    ['report', '--golden', '--json'],
  ],
  // It serves until it is stopped, so here it is asked for what it cannot serve.
  open: [['open', '--port', '70000'], ...payloads.map((one) => ['open', '--port', asWord(one)])],
  locate: [
    ...payloads.map((one) => ['locate', tapeOf(one), asWord(one)]),
    ...classes.flatMap((one) => [
      ['locate', tapeOf(one), asWord(one), '--json'],
      ['locate', asWord(one), '1'],
    ]),
  ],
  fix: classes.flatMap((one) => [
    ['fix', asWord(one)],
    ['fix', `g-${one.id}`, '--ok', asWord(one), '--json'],
    ['fix', `g-${one.id}`, '--ok', 'refunded=25'],
  ]),
  review: classes.flatMap((one) => [
    ['review', asWord(one)],
    ['review', asWord(one), '--json'],
  ]),
  debug: [
    ...payloads.map((one) => ['debug', tapeOf(one), '-x', 'steps; inspect; inspect raw; timeline']),
    ...classes.flatMap((one) => [
      ['debug', asWord(one), '-x', 'steps'],
      ['debug', tapeOf(one), '-x', `break ${asWord(one)}; ${asWord(one)}`],
      ['debug', tapeOf(one), '--json', '-x', 'inspect'],
    ]),
  ],
  diff: [
    ...payloads.map((one, at) => ['diff', tapeOf(one), tapeOf(payloads[at + 1] ?? payloads[0]!)]),
    ...classes.map((one, at) => ['diff', tapeOf(one), tapeOf(classes[at + 1] ?? classes[0]!), '--full', '--json']),
  ],
  pins: [['pins'], ['pins', '--json'], ['pins', '--stale'], ...classes.map((one) => ['pins', `g-${one.id}`])],
  rerun: [
    ...classes.map((one) => ['rerun', `g-${one.id}`, '--live', '--runs', asWord(one)]),
    ...classes.map((one) => ['rerun', `g-${one.id}`, '--live']),
  ],
  patch: [
    ...payloads.map((one) => ['patch', tapeOf(one), '--step', '1', '--set', `${asWord(one)}=1`]),
    ...payloads.map((one) => ['patch', tapeOf(one), '--step', '1', '--set', asWord(one), '--json']),
    ...classes.map((one) => ['patch', tapeOf(one), '--live', '--set', `input=${asWord(one)}`]),
    // One that gets as far as the agents, whose config is not there.
    ['patch', tapeOf(classes[0]!), '--set', 'input=1'],
  ],
  fork: [
    ...classes.map((one) => ['fork', tapeOf(one), '--step', '1', '--set', `${asWord(one)}=1`]),
    ...classes.map((one) => ['fork', tapeOf(one), '--mark', `${asWord(one)}=1`, '--json']),
    ...classes.map((one) => ['fork', tapeOf(one), '--step', '1', '--tail', asWord(one)]),
    ...classes.map((one) => ['fork', tapeOf(one), '--step', '2', '--decide', asWord(one)]),
    // One that gets as far as the agents, whose config is not there.
    ['fork', tapeOf(classes[0]!), '--critical'],
    ['fork', tapeOf(classes[0]!), '--critical', '--ok', 'x=1', '--any-name'],
  ],
  blame: [
    ...classes.map((one) => ['blame', asWord(one), '--live', '--ok', 'refunded=25']),
    ...payloads.map((one) => ['blame', tapeOf(one), '--live', '--bad', asWord(one), '--json']),
    ...classes.map((one) => ['blame', `g-${one.id}`, '--oracle', asWord(one), '--reference', asWord(one)]),
    ...classes.map((one) => ['blame', `g-${one.id}`, '--tools', asWord(one), '--cross-version']),
    ...classes.map((one) => ['blame', tapeOf(one), '--live', '--ok', 'refunded=25']),
    // One that gets as far as the agents, whose config is not there.
    ['blame', tapeOf(classes[0]!), '--live', '--ok', 'refunded=25', '--cross-version'],
  ],
  isolate: [
    ...classes.map((one) => ['isolate', asWord(one), '--live', '--ok', 'refunded=25']),
    ...payloads.map((one) => ['isolate', tapeOf(one), '--live', '--bad', asWord(one), '--json']),
    ...classes.map((one) => ['isolate', `g-${one.id}`, '--tools', asWord(one), '--cross-version']),
    // One that gets as far as the agents, whose config is not there.
    ['isolate', tapeOf(classes[0]!), '--live', '--ok', 'refunded=25', '--cross-version'],
  ],
  chaos: [
    ...payloads.map((one) => ['chaos', tapeOf(one), '--faults', asWord(one), '--json']),
    ...classes.flatMap((one) => [
      ['chaos', asWord(one)],
      ['chaos', tapeOf(one), '--fail', asWord(one)],
      ['chaos', tapeOf(one), '--seed', asWord(one)],
      ['chaos', tapeOf(one), '--seed', '1', '--path', asWord(one)],
      ['chaos', tapeOf(one), '--schedule', asWord(one)],
    ]),
    // One that gets as far as the agents, whose config is not there.
    ['chaos', tapeOf(classes[0]!), '--faults', 'http,tools'],
  ],
  doctor: [['doctor', tapeOf(classes[0]!)], ...classes.map((one) => ['doctor', asWord(one)]), ['doctor', '--json']],
  demote: classes.flatMap((one) => [
    ['tapes', 'demote', `g-${one.id}`],
    ['tapes', 'demote', asWord(one)],
  ]),
  hold: classes.flatMap((one) => [
    ['tapes', 'hold', tapeOf(one), '--reason', asWord(one)],
    ['tapes', 'hold', one.id, '--release', '--json'],
  ]),
  import: payloads.flatMap((one) => [
    ['import', archiveOf(one), '--dir', 'imported'],
    ['import', archiveOf(one), '--dir', 'imported', '--as', asWord(one), '--json'],
    ['import', asWord(one), '--format', asWord(one)],
    ['import', archiveOf(one), '--agent', asWord(one), '--dir', `imported-${one.id}`],
    ['import', archiveOf(one), '--input', asWord(one)],
    ['import', archiveOf(one), '--redact', asWord(one)],
    ['import', archiveOf(one), '--redact', `broken/${asName(one)}.har`],
    ['import', `broken/${asName(one)}.har`],
    ['import', `broken/${asName(one)}.har`, '--json'],
  ]),
  export: payloads.flatMap((one) => [
    ['export', tapeOf(one), '--format', 'otlp'],
    ['export', tapeOf(one), '--format', 'har'],
    ['export', tapeOf(one), '--format', 'json'],
    ['export', tapeOf(one), '--format', 'json', '--out', `exported/${asName(one)}/`],
    ['export', tapeOf(one), '--format', 'har', '--out', `exported/${asName(one)}/`, '--json'],
    ['export', asWord(one), '--format', asWord(one)],
    ['export', tapeOf(one), '--format', 'otlp', '--out', `exported/${asName(one)}/x/y`],
  ]),
  prune: [
    ['tapes', 'prune', '--dry-run'],
    ['tapes', 'prune', '--dry-run', '--json'],
    ['tapes', 'prune', '--older-than', '0d', '--retention', 'none'],
  ],
  rm: payloads.flatMap((one) => [
    ['tapes', 'rm', tapeOf(one), '--yes'],
    ['tapes', 'rm', asWord(one), '--yes', '--json'],
  ]),
}

/** Lines that read a golden set only to say that what they ask for is not in it: they are run where it is small. */
const seekers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  report: payloads.map((one) => ['report', asWord(one)]),
  locate: payloads.map((one) => ['locate', asWord(one), '1']),
  debug: payloads.map((one) => ['debug', asWord(one), '-x', 'steps']),
  rerun: payloads.flatMap((one) => [
    ['rerun', asWord(one), '--live'],
    ['rerun', '--live', '--tag', asWord(one), '--json'],
  ]),
}

/** A raw control character, of either block. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/

/** Commands that start programs get a process of their own, so that what those print is heard. */
const spawning = new Set(['accept', 'record', 'test'])
/** Commands that take away what others look at go last. */
const last = ['demote', 'prune', 'rm']
const inOrder = commands.map(({ name }) => name).sort((a, b) => last.indexOf(a) - last.indexOf(b))
/** Those that run in one process: starting one for each would take as long as what they do. */
const together = inOrder.filter((name) => !spawning.has(name) && !last.includes(name))

describe('hostile recorded text', { tags: 'thorough' }, () => {
  let project = ''
  const answered = new Map<string, readonly Answered[]>()

  beforeAll(async () => {
    project = mkdtempSync(join(tmpdir(), 'harvest-hostile-'))
    for (const one of [...payloads, ...classes]) write(tapeOf(one), tapeText(hostileTape(one)))
    for (const one of payloads) {
      write(`recordings/golden/${asName(one)}.tape.jsonl`, 'no tape')
      write(`recordings/golden/${asName(one)}.case.yaml`, 'case: x\n')
      write(archiveOf(one), hostileArchive(one))
      const { text } = one
      write(`broken/${asName(one)}.har`, hostileArchive(one, [{ request: { method: text, url: text } }]))
      write(
        `src/${asName(one)}.ts`,
        `export async function agent(input: string) {\n  return fetch(${JSON.stringify(one.text.toWellFormed())})\n}\n`,
      )
    }
    write('small/recordings/golden/g-small.tape.jsonl', tapeText(hostileTape(classes[0]!)))
    write('small/recordings/golden/g-small.case.yaml', caseText({ ...classes[0]!, id: 'small' }))
    // There the package and Vitest are found, and the case runs.
    symlinkSync(resolve(built('version.js'), '../../..'), join(project, 'small/node_modules'), 'junction')
    write('small/agent.ts', 'export const agent = () => 1\n')
    write('small/vitest.config.ts', configFor({ a: './agent.ts#agent' }))
    for (const one of classes) {
      const text = JSON.stringify(one.text.toWellFormed())
      write(`recordings/golden/g-${one.id}.tape.jsonl`, tapeText(hostileTape(one)))
      write(`recordings/golden/g-${one.id}.case.yaml`, caseText(one))
      write(`recordings/golden/broken-${one.id}.case.yaml`, `case: broken-${one.id}\n${text}: x\nexpect: ${text}\n`)
    }
    write('program.js', 'require("node:child_process").spawnSync("true", process.argv.slice(2))\n')
    write('package.json', '{ "private": true, "type": "commonjs" }')
    await inOneProcess(together, recipes, project)
    await inOneProcess(Object.keys(seekers), seekers, join(project, 'small'))
  })

  afterAll(() => rmSync(project, { recursive: true, force: true }))

  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), text)
  }

  it('every command is run with it', () => {
    expect(commands.map(({ name }) => name).filter((name) => recipes[name] === undefined)).toEqual([])
  })

  // Before anything takes the tape away.
  it('JSON holds the very text', async () => {
    const [{ stdout } = { stdout: '' }] = await each([['show', 'recordings/inbox/h0.tape.jsonl', '--json']], project)
    expect(JSON.parse(stdout)).toMatchObject({ header: { agent: payloads[0]!.text } })
  })

  it.each(inOrder)('is neutral in what `harvest %s` prints, and whole in its JSON', async (name) => {
    const [whole, small] = [recipes[name] ?? [], seekers[name] ?? []]
    const lines = [...whole, ...small]
    if (spawning.has(name)) answered.set(name, await each(whole, name === 'test' ? join(project, 'small') : project))
    else if (last.includes(name)) await inOneProcess([name], recipes, project)
    const answers = answered.get(name) ?? []
    const leaks = answers.flatMap(({ stdout, stderr, code }, at) => {
      const found = findsHostile(`${stdout}\n${stderr}`)
      const isJson = lines[at]?.includes('--json') !== true || isWhole(stdout)
      const isOurs = code !== 101
      return found.length === 0 && isJson && isOurs
        ? []
        : [{ line: lines[at]?.join(' '), found: found.slice(0, 2), isJson, code, stderr: isOurs ? '' : stderr }]
    })
    expect(leaks.slice(0, 5)).toEqual([])
    expect(answers).toHaveLength(lines.length)
    // It must have seen something to hold back.
    expect(answers.map(({ stdout, stderr }) => stdout + stderr).join('').length).toBeGreaterThan(20)
  })

  it('no page or export that a command wrote holds what a terminal would obey', () => {
    const folders = ['reports', 'exported']
    const files = folders.flatMap((folder) =>
      readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(?:html|json|har)$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    )
    expect(files.filter((file) => file.endsWith('.html')).length).toBeGreaterThan(50)
    expect(files.length).toBeGreaterThan(100)
    const raw = files.flatMap((file) => {
      const [found] = readFileSync(file, 'utf8').match(control) ?? []
      return found === undefined ? [] : [[file, found.codePointAt(0)?.toString(16)]]
    })
    expect(raw.slice(0, 5)).toEqual([])
  })

  it('a word nobody knows is answered neutrally', async () => {
    const lines = payloads.flatMap((one) => [
      [asWord(one)],
      ['ls', `--${asWord(one)}`],
      ['ls', asWord(one)],
      ['show', `${asWord(one)}.tape.jsonl`, '--json'],
    ])
    for (const { stdout, stderr } of await thousands(lines, project))
      expect(findsHostile(`${stdout}\n${stderr}`)).toEqual([])
  })

  /** Adds what these commands answer, in the order they are named. */
  async function inOneProcess(names: readonly string[], lines: typeof recipes, cwd: string): Promise<void> {
    const own = names.map((name) => ({ name, lines: lines[name] ?? [] }))
    const answers = [
      ...(await thousands(
        own.flatMap((one) => one.lines),
        cwd,
      )),
    ]
    for (const { name, lines: some } of own)
      answered.set(name, [...(answered.get(name) ?? []), ...answers.splice(0, some.length)])
  }

  async function each(lines: readonly (readonly string[])[], cwd: string): Promise<readonly Answered[]> {
    const answers: Answered[] = []
    for (const line of lines) answers.push(await harvest(line, { cwd, env: { NO_COLOR: '1' } }))
    return answers
  }
})

function isWhole(stdout: string): boolean {
  try {
    JSON.parse(stdout)
    return true
  } catch {
    return false
  }
}

/** The payload in what an archive of another tool says of a call. */
function hostileArchive({ text }: Payload, more: readonly Json[] = []): string {
  const headers = [{ name: 'x-text', value: text }]
  return JSON.stringify({
    log: {
      version: '1.2',
      creator: { name: text, version: text },
      entries: [
        {
          request: {
            method: 'POST',
            url: 'https://api.example/v1/chat/completions',
            headers,
            postData: { mimeType: text, text },
          },
          response: { status: 200, statusText: text, headers, content: { mimeType: text, text } },
        },
        ...more,
      ],
    },
  })
}

/** The payload in every field a tape has. */
function hostileTape({ id, text }: Payload): Parameters<typeof tapeText>[0] {
  // A tape refuses keys that reach into the objects of a program.
  const key = text === '__proto__' || text === '' ? 'key' : text
  const value: Json = { [key]: text, list: [text] }
  const asked = exchange(
    3,
    JSON.stringify({ model: text, messages: [{ role: 'user', content: text }], tools: [{ name: text }] }),
    [
      JSON.stringify({
        model: text,
        choices: [
          {
            message: {
              role: 'assistant',
              content: text,
              tool_calls: [{ id: text, function: { name: text, arguments: JSON.stringify(value) } }],
            },
          },
        ],
      }),
    ],
  )
  const failed = exchange(40, text, [text])
  const events: TapeEvent[] = [
    { ...call(1, text, value), result: value, site: `${text}:1:1` },
    { ...asked, url: 'https://api.example/v1/chat/completions' },
    {
      ...failed,
      method: text,
      url: `https://api.example/${text}`,
      error: { name: text, message: text, code: text, moment: [63, 63] },
    },
    { ...call(70, text, value), kind: 'retrieval', error: { message: text, name: text } },
    { kind: 'spawn', n: 80, at: 80, command: ['node', text] },
    { kind: 'push', n: 81, at: 81, url: `stdio:${text}`, text },
    { kind: 'message', n: 82, at: 82, from: text, to: text, body: value },
    { kind: 'mark', n: 83, at: 83, name: text, data: value },
  ]
  return {
    header: {
      id: `${id}${text}`,
      agent: text,
      input: value,
      startedAt: '2026-03-04T05:06:07.089Z',
      recorder: `vitest-harvest/0.1.0 ${text}`,
      pins: { node: text, commit: text, packages: { [key]: text } },
      command: { argv: ['node', text], cwd: text },
    },
    events,
    close: { n: 90, outcome: { status: 'returned', value }, unrecorded: [text] },
  }
}

function caseText({ id, text }: Payload): string {
  const legal = text.toWellFormed()
  const content: CaseContent = {
    id: `g-${id}`,
    agent:
      legal
        .replaceAll(/[\u0000-\u001f\u007f]/g, ' ')
        .slice(0, 190)
        .toWellFormed() || 'agent',
    tape: `g-${id}.tape.jsonl`,
    expect: 'fail',
    title: legal,
    lesson: { wrong: legal, right: legal },
    outcome: { text: legal },
    pins: { commit: legal, models: [legal], prompt: legal, node: legal },
    approved: { reason: legal, by: legal, at: legal },
    rules: [],
  }
  return writeCase(content, { schema: 'x' })
}
