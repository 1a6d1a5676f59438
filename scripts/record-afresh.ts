import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { installPeers } from '../bench/kit/peers.ts'
import { agent } from '../fixtures/recorders/agent.ts'
import { type Call, calls } from '../fixtures/recorders/calls.ts'
import { compare, type Difference } from '../fixtures/recorders/compare.ts'
import { roundWith } from '../fixtures/recorders/node-round.ts'
import { type Heard, startOrigin } from '../fixtures/recorders/origin.ts'
import { type Recorder, recorders } from '../fixtures/recorders/recorders.ts'
import { HarvestError } from '../src/errors/index.ts'
import { importRecording } from '../src/importers/index.ts'
import { installReplay, replayTape } from '../src/replay/index.ts'
import { parseTape, readTape, serializeTape, type Tape } from '../src/tape/index.ts'

/**
 * Makes the same round of calls under each recorder that is installed, imports what it wrote, and measures that by what
 * the server heard and said: calls, addresses, statuses, headers and bytes. Then the calls are made again in a replay of
 * the import, and have to get the same answers; those of Node also by the client that was recorded.
 *
 * Calls of which a recorder keeps less (`limits` in `fixtures/recorders/recorders.ts`) are recorded apart: what is lost
 * is printed, with what the tape says is missing. Everything else has to be equal; exit code 1 when it is not.
 *
 *     node scripts/record-afresh.ts [--only TEXT] [--keep]
 *
 * Needs, each for its own part: the packages of `bench/peers`, which it installs; Debian's `python3-vcr`,
 * `python3-requests`, `python3-httpx`, `python3-aiohttp`; `ruby-vcr`, `ruby-webmock`, `ruby-faraday`, `ruby-multi-json`;
 * `golang-go`, `golang-github-dnaeon-go-vcr-dev`; `chromium`, and `playwright-core` in the folder that
 * `PLAYWRIGHT_CORE` names. What is not there is passed over, and said to be.
 */
const words = process.argv.slice(2)
const only = words.includes('--only') ? (words[words.indexOf('--only') + 1] ?? '') : ''
const home = mkdtempSync(join(tmpdir(), 'vitest-harvest-afresh-'))
const origin = await startOrigin()
try {
  installPeers('http')
  await installReplay()
  for (const recorder of recorders.filter(({ name }) => name.includes(only))) await tryOne(recorder)
} finally {
  await origin.close()
  if (words.includes('--keep')) console.log(`the recordings are in ${home}`)
  else rmSync(home, { recursive: true, force: true })
}

async function tryOne(recorder: Recorder): Promise<void> {
  if (spawnSync(recorder.needs, ['--version']).error !== undefined) {
    console.log(`${recorder.name.padEnd(28)} not here: needs ${recorder.needs}`)
    return
  }
  const isLimit = ({ name }: Call): boolean => name in recorder.limits
  const kept = calls.filter((call) => !isLimit(call))
  const lines = await recorded(recorder, kept, 'kept')
  console.log(`${recorder.name.padEnd(28)} ${lines.join('\n  ')}`)
  for (const call of calls.filter(isLimit)) {
    const [first = '', ...rest] = await recorded(recorder, [call], 'lost')
    console.log(`  ${call.name}: ${recorder.limits[call.name]}\n    ${[first, ...rest].join('\n    ')}`)
  }
}

/** Records some calls and says what came of it. What has to be equal and is not makes the exit code 1. */
async function recorded(recorder: Recorder, some: readonly Call[], what: 'kept' | 'lost'): Promise<readonly string[]> {
  const fail = (...lines: readonly string[]): readonly string[] => {
    if (what === 'kept') process.exitCode = 1
    return lines
  }
  origin.clear()
  const dir = mkdtempSync(join(home, 'run-'))
  const file = join(home, 'calls.json')
  writeFileSync(file, JSON.stringify(some))
  mkdirSync(dir, { recursive: true })
  const { status, stdout, stderr } = await run(recorder.command({ calls: file, base: origin.base, dir }))
  if (status !== 0) return fail(`does not record: ${stderr.trim().split('\n').at(-1)}`)
  const heard = origin.heard.filter(({ path }) => path !== '/favicon.ico')
  try {
    const tape = tapeIn(dir)
    const differences = compare(tape, heard, origin.base)
    const { grade = 'our own', missing = [] } = tape.header.imported ?? {}
    const counted = `${heard.length} calls, ${differences.length} different, ${grade}`
    const replays = /^re|our own/.test(grade) ? await replayed(tape, recorder, some, heard, stdout) : []
    const lacks = what === 'lost' && missing.length > 0 ? [`missing: ${missing.slice(6).join(', ')}`] : []
    const lines = [`${counted}${replays.map((one) => `, ${one.says}`).join('')}`, ...lacks, ...differences.map(spelled)]
    return differences.length > 0 || replays.some(({ isWrong }) => isWrong) ? fail(...lines) : lines
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return fail(error.message)
  }
}

function tapeIn(dir: string): Tape {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const [file = ''] = files.map(({ parentPath, name }) => join(parentPath, name))
  if (file.endsWith('.tape.jsonl')) return readTape(file)
  const { header, events, close } = importRecording({ file, bytes: readFileSync(file), id: 'round', agent: 'round' })
  return parseTape(serializeTape(header, events, close), 'round')
}

interface Replayed {
  readonly says: string
  readonly isWrong: boolean
}

/** The calls as the server heard them, and the round by the client that was recorded. */
async function replayed(
  tape: Tape,
  { client }: Recorder,
  some: readonly Call[],
  heard: readonly Heard[],
  stdout: string,
): Promise<readonly Replayed[]> {
  const again = heard.map(callOf)
  const said = heard.map(({ status, body }) => [status, body.toString('base64')])
  const isPlain = tape.header.imported !== undefined
  const first = isPlain
    ? await replayOf('replay', tape, async () => {
        const came = await roundWith('http', origin.base, again)
        return isDeepStrictEqual(
          came.map(([status, , body]) => [status, body]),
          said,
        )
      })
    : undefined
  if (client === undefined) return first === undefined ? [] : [first]
  const before = JSON.parse(stdout) as unknown
  const isPacked = isPlain && client === 'http'
  const second = isPacked
    ? undefined
    : await replayOf(`by ${client}`, tape, async () =>
        isDeepStrictEqual(
          await (client === 'agent' ? agent(origin.base) : roundWith(client, origin.base, some)),
          before,
        ),
      )
  return [first, second].filter((one) => one !== undefined)
}

async function replayOf(name: string, tape: Tape, same: () => Promise<boolean>): Promise<Replayed> {
  const { problems, outcome, drift } = await replayTape(tape, same)
  const [problem] = problems
  if (problem !== undefined) return { says: `${name}: ${problem.message.split('\n')[0]}`, isWrong: true }
  if (outcome.status !== 'returned' || outcome.value !== true) return { says: `${name} differs`, isWrong: true }
  return { says: drift.length === 0 ? `${name} equal` : `${name} equal, ${drift.length} drift`, isWrong: false }
}

function callOf({ method, path, requestHeaders, requestBody }: Heard): Call {
  const headers = Object.fromEntries(requestHeaders.filter(([name]) => name === 'content-type'))
  const body = requestBody.length === 0 ? {} : { body: requestBody.toString('base64') }
  return { name: path, method, path, headers, ...body }
}

function spelled({ call, of, was, told }: Difference): string {
  const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text).replaceAll('\n', ' | ')
  return `${call}: ${of}\n      was   ${short(was)}\n      told  ${short(told)}`
}

/** Runs beside the server, which is in this process. */
function run(command: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const [program = '', ...args] = command
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(home, 'go') }
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000, env })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (part) => (stdout += part))
  child.stderr.on('data', (part) => (stderr += part))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: -1, stdout, stderr: String(error) }))
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}
