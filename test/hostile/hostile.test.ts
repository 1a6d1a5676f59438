import '../support/packed.ts'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { specs } from '../../src/cli/spec/index.ts'
import { serializeTape, type TapeHeader } from '../../src/tape/index.ts'
import { canaries } from '../privacy/canaries.ts'
import { harvest } from '../cli/harvest.ts'
import { many } from '../cli/many.ts'
import { configFor, project as makeProject } from '../cli/project.ts'
import { exchange, type TapeParts, tapeText } from '../recordings/make.ts'

// Each sentence of docs/boundary.md on what a tape may make run, as an attack that failed. A canary is a file, a port or a
// process that nobody but an attacker reaches for.
const agent = 'export async function refund(): Promise<string> {\n  return "ok"\n}\n'
const secret = canaries['anthropic-key']![0]!

let base = ''
let server: Server
let connections = 0
beforeAll(async () => {
  base = makeProject({ 'src/agent.ts': agent })
  mkdirSync(join(base, '.git'))
  mkdirSync(join(base, 'emptied'))
  writeFileSync(join(base, 'emptied/kept.txt'), 'kept\n')
  // What a script would do if it were run: it says so in a file and at a port.
  const port = await listening()
  const attack = `import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
writeFileSync(${JSON.stringify(join(base, 'canary.txt'))}, String(process.pid))
connect(${port}, '127.0.0.1')
export const isRight = () => true
`
  write('src/attack.mjs', attack)
  write('node_modules/evil/index.mjs', attack)
  write('-e', attack)
  symlinkSync(dirname(base), join(base, 'out'))
})
afterAll(() => {
  server.close()
  rmSync(base, { recursive: true, force: true })
})

async function listening(): Promise<number> {
  server = createServer((socket) => {
    connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(join(base, file)), { recursive: true })
  writeFileSync(join(base, file), content)
}

/** What the attacks have reached; everything is empty. */
async function touched(): Promise<readonly string[]> {
  // Connections of processes that have ended are taken by now; those that wait are heard in a moment.
  await new Promise((resolve) => setTimeout(resolve, 20))
  const files = ['canary.txt', 'canary'].filter((name) => readdirSync(base).includes(name))
  const isEmptied = readFileSync(join(base, 'emptied/kept.txt'), 'utf8') !== 'kept\n'
  return [...files, ...(isEmptied ? ['emptied'] : []), ...(connections > 0 ? ['port'] : [])]
}

const data = `data:text/javascript,import{writeFileSync}from'node:fs';writeFileSync('canary','')`
const commands: readonly (readonly [name: string, argv: readonly string[], cwd?: string])[] = [
  ['a reporter that is code', ['node', 'node_modules/vitest/vitest.mjs', 'run', `--reporter=${data}`]],
  ['a build that empties', ['node', 'node_modules/vite/bin/vite.js', 'build', '--outDir', 'emptied', '--emptyOutDir']],
  ['a script of the project', ['node', 'src/attack.mjs']],
  ['a script with arguments', ['node', 'src/attack.mjs', '--prod']],
  ['a preloaded module', ['node', '--import', data, 'src/agent.ts']],
  ['code', ['node', '-e', data.slice(21)]],
  ['a script named -e', ['node', '-e']],
  ['a shell', ['sh', '-c', 'touch canary']],
  ['a line feed in a word', ['node', 'src/attack.mjs\n', 'x']],
  ['a folder outside', ['node', 'src/attack.mjs'], '..'],
  ['a linked folder', ['node', 'src/attack.mjs'], 'out'],
]
const tapeOf = (at: number): string => `recordings/inbox/command-${at}.tape.jsonl`

/** One line of every command that takes a tape; a new command has to be given some. */
const linesFor: Readonly<Record<string, (tape: string) => readonly (readonly string[])[]>> = {
  replay: (tape) => [['replay', tape]],
  verify: (tape) => [['verify', tape]],
  show: (tape) => [
    ['show', tape],
    ['show', tape, '--full', '--json'],
  ],
  report: (tape) => [
    ['report', tape, '-o', 'command.html'],
    ['report', tape, '--against', tape, '--json'],
  ],
  ls: () => [['ls']],
  diff: (tape) => [['diff', tape, tape]],
  export: (tape) => [['export', tape, '--format', 'json']],
  check: (tape) => [['check', tape]],
  hold: (tape) => [
    ['tapes', 'hold', tape, '--reason', 'x'],
    ['tapes', 'hold', tape, '--release'],
  ],
  promote: (tape) => [['promote', tape, '--as', basename(tape, '.tape.jsonl'), '--unverified']],
  pins: () => [['pins']],
  prune: () => [['tapes', 'prune', '--dry-run']],
  import: (tape) => [['import', tape, '--dir', 'imported']],
  demote: (tape) => [['tapes', 'demote', basename(tape, '.tape.jsonl')]],
  rm: () => [['tapes', 'rm', 'command-99', '--yes']],
  accept: () => [],
  blame: () => [],
  isolate: () => [],
  chaos: () => [],
  debug: (tape) => [['debug', tape, '-x', 'steps; inspect']],
  locate: (tape) => [['locate', tape, 'x']],
  review: () => [],
  doctor: () => [],
  demo: () => [],
  fix: () => [],
  fork: () => [],
  init: () => [],
  open: () => [],
  patch: () => [],
  record: () => [],
  rerun: () => [],
  test: () => [],
  validate: () => [],
}

describe('a tape that brings a command of its own', () => {
  it('runs it in no command, and is told where it would', async () => {
    commands.forEach(([, argv, cwd = '.'], at) =>
      write(tapeOf(at), tapeText({ header: { id: `command-${at}`, command: { argv, cwd } } })),
    )
    // `tapes rm` runs what `rm` runs.
    const known = specs.filter(({ name }) => !name.startsWith('tapes'))
    expect(known.map(({ name }) => name).filter((name) => linesFor[name] === undefined)).toEqual([])
    // Every command for one of them, and for the others those that could start it.
    const all = Object.values(linesFor).flatMap((of) => of(tapeOf(0)))
    const lines = [
      ...all,
      ...commands.slice(1).flatMap((_, at) => [
        ['replay', tapeOf(at + 1)],
        ['verify', tapeOf(at + 1)],
      ]),
    ]
    const answers = many(lines, base, { CI: '1' })
    const runs = lines.flatMap(([name = ''], at) => (name === 'replay' || name === 'verify' ? [answers[at]!] : []))
    expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 2))
    expect(runs.filter(({ stderr }) => !stderr.includes('(HARVEST_CLI_COMMAND_UNTRUSTED)'))).toEqual([])
    expect(answers.filter(({ code }) => code === 101)).toEqual([])
    expect(await touched()).toEqual([])
  })

  it('does not run it where the agents of the config run', { tags: 'thorough' }, async () => {
    write(
      tapeOf(50),
      tapeText({ header: { id: 'command-50', agent: 'refund', command: { argv: commands[2]![1], cwd: '.' } } }),
    )
    write('vitest.config.ts', configFor({ refund: './src/agent.ts#refund' }))
    const { code } = await harvest(['fork', tapeOf(50), '--step', '1', '--set', 'result=1'], { cwd: base })
    rmSync(join(base, 'vitest.config.ts'))
    // The agent ran, and asked for other things than the tape has.
    expect([0, 1]).toContain(code)
    expect(await touched()).toEqual([])
  })

  it('is shown whole, however long it is', () => {
    const argv = ['node', 'x'.repeat(5_000), 'a\u001b[2K', 'last']
    write('recordings/inbox/long.tape.jsonl', tapeText({ header: { id: 'long', command: { argv, cwd: '.' } } }))
    const [{ stdout } = { stdout: '' }] = many([['show', 'long']], base)
    expect(stdout).toContain(`node ${'x'.repeat(5_000)} 'a\\x1b[2K' last`)
  })
})

describe('a case', () => {
  it('does not make its oracle run when that is no module of the project', async () => {
    const oracles = [
      './node_modules/evil/index.mjs#isRight',
      './out/elsewhere.mjs#isRight',
      './src/attack.mjs?x=1#isRight',
    ]
    for (const [at, oracle] of oracles.entries()) {
      write(`recordings/golden/o${at}.tape.jsonl`, tapeText({ header: { id: `o${at}`, agent: 'refund' } }))
      write(
        `recordings/golden/o${at}.case.yaml`,
        `case: o${at}\nagent: refund\ntape: o${at}.tape.jsonl\nexpect: fail\noracle: ${JSON.stringify(oracle)}\n`,
      )
    }
    const lines = oracles.flatMap((_, at) => [
      ['blame', `o${at}`, '--dry-run', '--cross-version'],
      ['fork', `o${at}`, '--step', '1', '--set', 'result=1'],
    ])
    const answers = many(lines, base)
    expect(answers.map(({ code }) => code)).toEqual(lines.map(() => 2))
    expect(answers.filter(({ stderr }) => !stderr.includes('(HARVEST_ORACLE_OUTSIDE)'))).toEqual([])
    expect(await touched()).toEqual([])
  })
})

/** Command lines that read a tape. */
const readers = (tape: string): readonly (readonly string[])[] => [
  ['show', tape],
  ['show', tape, '--json'],
  ['show', tape, '--trace'],
  ['diff', tape, tape],
  ['export', tape, '--format', 'json'],
  ['export', tape, '--format', 'otlp'],
  ['replay', tape, '--agent', './src/agent.ts#refund'],
  ['verify', tape, '--agent', './src/agent.ts#refund'],
  ['fork', tape, '--critical'],
  ['blame', tape, '--ok', 'x=1', '--dry-run'],
  ['patch', tape, '--set', 'input=1'],
  ['chaos', tape],
  ['doctor', tape],
  ['promote', tape, '--as', 'ring', '--unverified'],
  ['check', tape],
]

describe('a branch', () => {
  it('that comes back to itself is refused by every command that reads it', { tags: 'thorough' }, async () => {
    const branch = (id: string, of: string): string => {
      const parent = { id: of, file: `${of}.tape.jsonl`, digest: 'x'.repeat(22), events: 1, keep: 1 }
      const header = { harvest: 1, id, agent: 'refund', startedAt: '2026-03-04T05:06:07.089Z', recorder: 'x' }
      const whole: TapeHeader = { ...header, flags: [], pins: { node: '24' }, parent }
      return serializeTape(whole, [], { n: 9, at: 1, outcome: { status: 'returned', value: 1 } })
    }
    write('rings/self.tape.jsonl', branch('self', 'self'))
    write('rings/one.tape.jsonl', branch('one', 'two'))
    write('rings/two.tape.jsonl', branch('two', 'one'))
    const lines = ['self', 'one'].flatMap((name) => readers(`rings/${name}.tape.jsonl`))
    const answers = many([...lines, ['ls', '--dir', 'rings']], base)
    expect(
      lines.flatMap((line, at) => (answers[at]?.code === 2 || answers[at]?.code === 3 ? [] : [line.join(' ')])),
    ).toEqual([])
    expect(answers.slice(0, -1).filter(({ stdout, stderr }) => !/HARVEST_TAPE_PARENT/.test(stdout + stderr))).toEqual(
      [],
    )
    expect(answers.at(-1)?.code).toBe(3)
  })
})

describe('bytes behind the closing line', () => {
  it('are damage in every command: exit code 3', { tags: 'thorough' }, async () => {
    for (const [name, more] of [
      ['half', '{"kind":"ma'],
      ['zero', '\0\0'],
      ['text', 'x'],
    ] as const)
      write(`torn/${name}.tape.jsonl`, tapeText({ header: { agent: 'refund' } }) + more)
    const lines = ['half', 'zero', 'text'].flatMap((name) => readers(`torn/${name}.tape.jsonl`))
    const answers = many([...lines, ['ls', '--dir', 'torn']], base)
    expect(answers.flatMap(({ code }, at) => (code === 3 ? [] : [[lines[at]?.join(' '), code]]))).toEqual([])
  })
})

describe('a command that changes something', () => {
  it('takes whole names: the beginning of one changes nothing and says which tapes it could be', () => {
    for (const id of ['t350', 't351'])
      write(`exact/inbox/${id}.tape.jsonl`, tapeText({ header: { id, agent: 'refund' } }))
    const lines = [
      ['tapes', 'rm', 't35', '--yes', '--dir', 'exact'],
      ['tapes', 'rm', 't350', 't3', '--yes', '--dir', 'exact'],
      ['tapes', 'hold', 't350x', '--reason', 'x', '--dir', 'exact'],
      ['tapes', 'hold', 't35', '--reason', 'x', '--dir', 'exact'],
      ['promote', 't35', '--as', 'x', '--unverified', '--dir', 'exact'],
      ['tapes', 'demote', 't35', '--dir', 'exact'],
      ['fork', 't35', '--save', '--step', '1', '--set', 'result=1', '--dir', 'exact'],
    ]
    const answers = many(lines, base)
    expect(answers.map(({ code }) => code)).toEqual(lines.map(() => 2))
    const listing = answers.filter(({ stderr }) => /t350\.tape\.jsonl\n +exact\/inbox\/t351/.test(stderr))
    expect(listing).toHaveLength(5)
    expect(readdirSync(join(base, 'exact')).sort()).toEqual(['inbox'])
    expect(readdirSync(join(base, 'exact/inbox')).filter((name) => !name.startsWith('.'))).toEqual([
      't350.tape.jsonl',
      't351.tape.jsonl',
    ])
    expect(many([['show', 't350', '--dir', 'exact']], base)[0]?.code).toBe(0)
  })
})

describe('harvest check', () => {
  it('says what it could not search, and so does promoting', { tags: 'thorough' }, async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from(secret), Buffer.alloc(300 * 1024 * 1024)]))
    const bodies: readonly (readonly [name: string, coding: string, bytes: Buffer])[] = [
      ['bomb', 'gzip', bomb],
      ['unknown', 'snappy', Buffer.from([1, 2, 3, 255])],
      ['broken', 'gzip', Buffer.from([31, 139, 0, 0, 255, 254])],
      ['twice', 'gzip, gzip', gzipSync(bomb)],
    ]
    for (const [name, coding, bytes] of bodies) {
      const asked = exchange(3, '{}', [])
      const event = {
        ...asked,
        response: {
          ...asked.response!,
          headers: [['content-encoding', coding]] as const,
          chunks: [[5, 5, { base64: bytes.toString('base64') }]] as const,
        },
      } as const
      write(`unsearched/inbox/${name}.tape.jsonl`, tapeText({ events: [event] } as unknown as TapeParts))
    }
    const lines = bodies.flatMap(([name]) => [
      ['check', `unsearched/inbox/${name}.tape.jsonl`, '--json'],
      ['promote', `unsearched/inbox/${name}.tape.jsonl`, '--as', name, '--unverified', '--dir', 'unsearched'],
    ])
    const answers = many(lines, base)
    expect(answers.map(({ code }) => code)).toEqual(bodies.flatMap(() => [1, 2]))
    const said = answers.map(({ stdout, stderr }) => /could not (?:be )?search/i.test(stdout + stderr))
    expect(said).toEqual(lines.map(() => true))
  })
})
