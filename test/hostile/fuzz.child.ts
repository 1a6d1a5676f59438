// Runs the command of a package as it is installed on mutants, in this process, and tells of each line before and after it:
//     node fuzz.child.ts <folder> <dist/cli/main.js> <first seed> <number of mutants> <share: every how manieth line>
// Whatever starts a program or opens a socket on the way is a find.
import childProcess from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { IncomingMessage, type Server, ServerResponse } from 'node:http'
import { dapMessages, mcpMessages } from './debug-messages.ts'
import { mutantOf, plainTape } from './mutants.ts'

const [folder = '', main = '', first = '', count = '', share = '1'] = process.argv.slice(2)
let current = ''
let evaluated = 0
const tell = (word: string, text = ''): void => void writeSync(3, `${JSON.stringify([word, current, text])}\n`)

// Our own programs are not run: Vitest would take seconds. They end as if it were not there.
const own = /[\\/](?:vitest|cli)[\\/](?:run-vitest|list-programs|replay-agent|debug-agent)\.[jt]s$/
const real = { spawn: childProcess.spawn, execFileSync: childProcess.execFileSync }
childProcess.spawn = ((program: string, words: readonly string[] = [], options: SpawnOptions = {}): ChildProcess => {
  if (program === 'git' && gitRuns) return real.spawn(program, words, options)
  if (!(program === process.execPath && own.test(words[0] ?? '')) && program !== 'git')
    tell('find', `started ${program} ${words.join(' ')}`)
  const child = Object.assign(new EventEmitter(), { stdout: null, stderr: null, stdin: null, kill: () => true })
  setImmediate(() => child.emit('close', 1, null))
  return child as unknown as ChildProcess
}) as typeof childProcess.spawn
for (const name of ['spawnSync', 'execSync', 'execFileSync', 'fork', 'exec', 'execFile'] as const) {
  Object.assign(childProcess, {
    [name]: (program: string) => {
      if (program !== 'git') tell('find', `started ${program}`)
      const error = Object.assign(new Error('not here'), { code: 'ENOENT', syscall: `spawnSync ${program}` })
      if (name === 'spawnSync') return { error, status: null, signal: null, stdout: null, stderr: null }
      throw error
    },
  })
}
syncBuiltinESMExports()
net.Socket.prototype.connect = function connect(): never {
  tell('find', 'opened a socket')
  throw new Error('no sockets here')
}
/** The address of the pages that are served, once it is printed. */
let opening: PromiseWithResolvers<string> | undefined
/** Git is one of those that run. */
let gitRuns = false
const { listen } = net.Server.prototype
net.Server.prototype.listen = function (this: Server, ...given: unknown[]) {
  // A pipe in a folder of its own, for the program a debugger starts.
  if (typeof given[0] === 'string' && given[0].startsWith(join(tmpdir(), 'harvest-debug-')))
    return listen.apply(this, given as Parameters<typeof listen>)
  if (opening !== undefined && given[1] === '127.0.0.1') {
    this.address = () => ({ port: 1, address: '127.0.0.1', family: 'IPv4' })
    setImmediate(given[2] as () => void)
    void visit(this, opening.promise).catch((error: unknown) => tell('find', `cannot be visited: ${String(error)}`))
    return this
  }
  tell('find', 'listened at a port')
  throw new Error('no ports here')
}
process.on('uncaughtException', (error) => tell('find', `uncaught: ${error.stack ?? error.message}`))
process.on('unhandledRejection', (error) => tell('find', `rejected: ${String((error as Error)?.stack ?? error)}`))

process.chdir(folder)
const place = (kind: 'tape.jsonl' | 'case.yaml', below: string): string => join('recordings', below, `m.${kind}`)

const [tape, golden, plain] = ['recordings/inbox/m.tape.jsonl', 'recordings/golden/m.case.yaml', 'plain.tape.jsonl']

/** By command: lines that read. A share of a mutant's lines is the same share of each command. */
const reading: Readonly<Record<string, readonly string[]>> = {
  show: [
    `show ${tape}`,
    `show ${tape} --full --draws`,
    `show ${tape} --json`,
    `show ${tape} --trace`,
    `show ${tape} --step 1`,
    `show ${tape} --step 2 --json`,
    `show ${golden}`,
    `show ${golden} --replay`,
  ],
  diff: [`diff ${tape} ${plain} --full`, `diff ${plain} ${tape} --json`],
  export: ['otlp', 'har', 'json'].map((format) => `export ${tape} --format ${format}`),
  check: [`check ${tape} ${golden}`, 'check', 'check --json'],
  replay: [`replay ${tape}`, `replay ${tape} --exact --json`, `replay ${tape} --module ./agent.ts`],
  fork: [
    `fork ${tape} --critical`,
    `fork ${tape} --step 1 --say x --cross-version`,
    `fork ${golden} --step 1 --set x=1`,
  ],
  blame: [`blame ${tape} --ok refunded=25 --live --cross-version`, `blame ${golden} --dry-run --cross-version`],
  chaos: [`chaos ${tape} --faults http,tools`],
  patch: [`patch ${tape} --set input=1 --step 1`],
  doctor: [`doctor ${tape}`, 'doctor'],
  rerun: ['rerun m --live --cross-version'],
  pins: ['pins', 'accept --list', 'accept m --reason x --data --json'],
  import: [`import ${tape} --dir imported`],
  report: [
    `report ${tape} -o r.html --force`,
    `report ${tape} --full --json -o r.html --force`,
    `report ${tape} --against ${plain} -o r.html --force`,
    `report ${plain} --against ${tape} -o -`,
    `report ${golden} --replay -o r.html --force`,
    'report --golden -o r.html --force',
    `report --golden --results ${tape} -o r.html --force`,
  ],
  open: ['open', `open ${tape}`, `open m --json`],
  debug: [
    `debug ${tape} -x inspect;next;inspect;continue;back;timeline;diff_1_2;print_args;last;goto_1`,
    `debug ${golden} --json -x find_lookup(id_~_"A");break_lookup(id_~_"A");continue;reverse-continue;watch_x;what_if_x=1`,
    `debug ${tape} --agent ./agent.ts -x code;next;what_if_result.total=30`,
    `debug --mcp ${tape}`,
    `debug --dap ${tape}`,
  ],
  locate: [`locate ${tape} A-100`, `locate ${golden} 25 --json`, `locate ${tape} x`],
  fix: ['fix m --ok refunded=25', 'fix m --bad lookup(id) --json --without none', 'fix m --live --tools ./agent.ts'],
  test: ['test m', 'test --update-recordings --reason x', 'test m --prove --yes'],
  ls: [
    'ls --call lookup(id) --json',
    'ls --text A-100 --sort cost',
    'ls --subject anna@shop.example',
    'ls --attribute a=b --session x',
    'ls --since 2020-01-01 --until 2030-01-01 --retention flagged --kept cost',
    'ls --cost 0.01..2 --tool lookup --model gpt-5 --outcome returned',
  ],
  promote: [`promote ${tape} --as other`],
}

/** Lines that change something and build on each other. */
const changing: readonly string[] = [
  `promote ${tape} --as new --unverified --baseline`,
  'check',
  'accept --reason x --data',
  'hold m --reason x',
  'hold m --release',
  'demote m',
  'demote new',
]

/** Looked at together: the index of an inbox costs more than all else. */
const together: readonly string[] = [
  'ls',
  'ls --json --sort cost',
  'show latest',
  'prune --dry-run',
  'prune --older-than 0d --class none',
  'rm run-0 --yes',
  'report --golden -o r.html',
  'open',
]

const end = Number(first) + Number(count)
/** Mutants that are looked at together. */
const batch = 100
for (let seed = Number(first); seed < end; seed++) {
  const mutant = mutantOf(seed)
  fresh()
  for (const below of ['inbox', 'golden']) writeFileSync(place('tape.jsonl', below), mutant.tape)
  writeFileSync(place('case.yaml', 'golden'), mutant.case)
  for (const lines of Object.values(reading)) {
    const step = Math.min(lines.length, Number(share))
    for (const [at, line] of lines.entries()) if ((at + seed) % step === 0) await run(seed, line)
  }
  // What changes things builds on each other: all of it, for every other mutant where lines are shared.
  if (seed % Math.min(2, Number(share)) === 0) for (const line of changing) await run(seed, line)
  if ((seed + 1) % batch === 0 || seed === end - 1) await inspectTogether(seed)
}
current = ''
tell('done')
process.exit(0)

/** The last mutants as an inbox, and as what a branch brings; there, git runs for once. */
async function inspectTogether(seed: number): Promise<void> {
  fresh()
  const seeds = Array.from({ length: batch }, (_, n) => seed - n).filter((one) => one >= Number(first))
  for (const one of seeds) writeFileSync(`recordings/inbox/run-${one}.tape.jsonl`, mutantOf(one).tape)
  for (const line of together) await run(seed, line)
  fresh()
  process.env['PATH'] = '/usr/local/bin:/usr/bin:/bin'
  gitRuns = true
  const git = (...words: readonly string[]): void =>
    void real.execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...words], { stdio: 'ignore' })
  git('init')
  git('add', '-A')
  git('commit', '-m', 'base', '--allow-empty')
  for (const one of seeds) {
    const { tape: bytes, case: content } = mutantOf(one)
    writeFileSync(`recordings/golden/run-${one}.tape.jsonl`, bytes)
    writeFileSync(`recordings/golden/run-${one}.case.yaml`, content)
  }
  git('add', '-A')
  git('commit', '-m', 'mutants')
  for (const line of ['review HEAD~1', 'review HEAD~1..HEAD --json', 'review HEAD~1 --markdown']) await run(seed, line)
  gitRuns = false
  process.env['PATH'] = '/nowhere'
}

function fresh(): void {
  for (const name of existsSync('.') ? readdirSync('.') : [])
    if (name !== 'package.json') rmSync(name, { recursive: true, force: true })
  for (const below of ['inbox', 'golden']) mkdirSync(join('recordings', below), { recursive: true })
  writeFileSync('plain.tape.jsonl', plainTape)
  writeFileSync('agent.ts', 'export default () => 1\n')
}

async function run(seed: number, line: string): Promise<void> {
  current = `${seed} ${line}`
  tell('begin')
  // An underscore inside of a word is a space: the words of a script.
  const words = line.split(' ').map((word) => (word.includes(';') ? word.replaceAll('_', ' ') : word))
  const asked = words[0] === 'debug' && !words.includes('-x')
  if (asked) say(words[1] === '--mcp' ? mcpMessages(words.pop()!) : dapMessages(words.pop()!))
  opening = words[0] === 'open' ? Promise.withResolvers() : undefined
  const { code, said } = await command(words, (text) => {
    const [url] = /http:\/\/127\.0\.0\.1:[\w.:/-]+/.exec(text) ?? []
    if (url !== undefined) opening?.resolve(url)
  })
  opening = undefined
  if (code === 101) tell('find', said)
  if (existsSync('canary')) tell('find', 'a canary was touched')
}

/** Runs the installed command: its entry is evaluated anew for each line, what it imports is there. */
async function command(
  words: readonly string[],
  printed: (text: string) => void,
): Promise<{ readonly code: unknown; readonly said: string }> {
  let said = ''
  const writing =
    (hear: (text: string) => void): typeof process.stdout.write =>
    (text: string | Uint8Array, ...rest: unknown[]) => {
      hear(String(text))
      const done = rest.find((one): one is () => void => typeof one === 'function')
      if (done !== undefined) setImmediate(done)
      return true
    }
  process.stdout.write = writing(printed)
  process.stderr.write = writing((text) => (said = (said + text).slice(-2_000)))
  process.argv = [process.execPath, main, ...words]
  process.exitCode = undefined
  evaluated += 1
  await import(`${pathToFileURL(main).href}?line=${evaluated}`)
  const code = process.exitCode
  process.exitCode = undefined
  process.stdout.removeAllListeners('error')
  if (code === undefined) tell('find', 'ended without an exit code')
  return { code, said }
}

/** What comes in at stdin. */
function say(text: string): void {
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(text)]), configurable: true })
}

/** Asks a server that listens nowhere for its first page and all it links to, and ends it. */
async function visit(server: Server, opened: Promise<string>): Promise<void> {
  const ask = (path: string): Promise<string> =>
    new Promise((done) => {
      const asked = Object.assign(new IncomingMessage(new net.Socket()), {
        url: path,
        method: 'GET',
        headers: { host: '127.0.0.1:1' },
      })
      const answer = new ServerResponse(asked)
      answer.end = ((body: unknown) => (done(String(body)), answer)) as typeof answer.end
      server.emit('request', asked, answer)
    })
  const base = new URL(await opened).pathname
  const page = await ask(base)
  for (const [, link] of page.matchAll(/"((?:case|run)\/[0-9a-f]{16})"/g)) await ask(base + link)
  for (const path of ['', '/', `${base}run/../../..`, `${base}case/x`]) await ask(path)
  process.emit('SIGINT')
}
