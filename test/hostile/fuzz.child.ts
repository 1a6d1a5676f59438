// Runs commands of `harvest` on mutants in this process, and tells of each line before and after it:
//     node fuzz.child.ts <folder> <first seed> <number of mutants> <share: every how manieth line>
// Whatever starts a program or opens a socket on the way is a find.
import childProcess from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { mutantOf, plainTape } from './mutants.ts'

const [folder = '', first = '', count = '', share = '1'] = process.argv.slice(2)
let current = ''
const tell = (word: string, text = ''): void => void writeSync(3, `${JSON.stringify([word, current, text])}\n`)

// Our own programs are not run: Vitest would take seconds. They end as if it were not there.
const own = /[\\/](?:vitest|cli)[\\/](?:run-vitest|list-programs|replay-agent)\.js$/
childProcess.spawn = ((program: string, words: readonly string[] = []): ChildProcess => {
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
net.Server.prototype.listen = function listen(): never {
  tell('find', 'listened at a port')
  throw new Error('no ports here')
}
process.on('uncaughtException', (error) => tell('find', `uncaught: ${error.stack ?? error.message}`))
process.on('unhandledRejection', (error) => tell('find', `rejected: ${String((error as Error)?.stack ?? error)}`))

process.chdir(folder)
const { inProcess } = await import('../cli/in-process.ts')
const place = (kind: 'tape.jsonl' | 'case.yaml', below: string): string => join('recordings', below, `m.${kind}`)

/** Lines that read, then those that change something. */
const reading: readonly string[] = [
  'show recordings/inbox/m.tape.jsonl',
  'show recordings/inbox/m.tape.jsonl --full --draws',
  'show recordings/inbox/m.tape.jsonl --json',
  'show recordings/inbox/m.tape.jsonl --trace',
  'show recordings/inbox/m.tape.jsonl --step 1',
  'show recordings/inbox/m.tape.jsonl --step 2 --json',
  'show recordings/golden/m.case.yaml',
  'show recordings/golden/m.case.yaml --replay',
  'diff recordings/inbox/m.tape.jsonl plain.tape.jsonl --full',
  'diff plain.tape.jsonl recordings/inbox/m.tape.jsonl --json',
  'export recordings/inbox/m.tape.jsonl --format otlp',
  'export recordings/inbox/m.tape.jsonl --format har',
  'export recordings/inbox/m.tape.jsonl --format json',
  'check recordings/inbox/m.tape.jsonl recordings/golden/m.case.yaml',
  'check',
  'replay recordings/inbox/m.tape.jsonl',
  'verify recordings/inbox/m.tape.jsonl --json',
  'replay recordings/inbox/m.tape.jsonl --agent ./agent.ts',
  'fork recordings/inbox/m.tape.jsonl --critical',
  'fork recordings/inbox/m.tape.jsonl --step 1 --say x --cross-version',
  'fork recordings/golden/m.case.yaml --step 1 --set x=1',
  'blame recordings/inbox/m.tape.jsonl --ok refunded=25 --live --cross-version',
  'blame recordings/golden/m.case.yaml --dry-run --cross-version',
  'chaos recordings/inbox/m.tape.jsonl --faults http,tools',
  'patch recordings/inbox/m.tape.jsonl --set input=1 --step 1',
  'doctor recordings/inbox/m.tape.jsonl',
  'doctor',
  'rerun m --live --cross-version',
  'pins',
  'accept --list',
  'promote recordings/inbox/m.tape.jsonl --as other',
  'import recordings/inbox/m.tape.jsonl --dir imported',
]
const changing: readonly string[] = [
  'promote recordings/inbox/m.tape.jsonl --as new --unverified --baseline',
  'check',
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
]

const end = Number(first) + Number(count)
const batch = 20
for (let seed = Number(first); seed < end; seed++) {
  const mutant = mutantOf(seed)
  fresh()
  for (const below of ['inbox', 'golden']) writeFileSync(place('tape.jsonl', below), mutant.tape)
  writeFileSync(place('case.yaml', 'golden'), mutant.case)
  const mine = reading.filter((_, at) => (at + seed) % Number(share) === 0)
  // What changes things builds on each other: all of it or none.
  for (const line of [...mine, ...(seed % Number(share) === 0 ? changing : [])]) await run(seed, line)
  if (seed % (batch * Number(share)) !== 0) continue
  fresh()
  for (let n = 0; n < batch; n++) writeFileSync(`recordings/inbox/run-${n}.tape.jsonl`, mutantOf(seed + n).tape)
  for (const line of together) await run(seed, line)
}
current = ''
tell('done')
process.exit(0)

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
  const { code, stderr } = await inProcess(line.split(' '))
  if (code === 101) tell('find', stderr)
  if (existsSync('canary')) tell('find', 'a canary was touched')
}
