import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { delimiter, dirname, join, resolve } from 'node:path'
import { HarvestError } from '../../errors/index.ts'
import { neutralLines, type Screen } from '../../report/output.ts'
import { demoFiles, demoNext, demoSteps } from '../demo/files.ts'
import { demoSpec } from '../spec/record.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'

/** A step of the demo that ran. */
interface Played {
  readonly command: string
  readonly exit: number
  readonly output: string
}

/** Plays the way from a complaint to a fixed agent in this folder, with a scripted model. Needs neither key nor network. */
export const demoCommand: Command = {
  ...demoSpec,
  async run(given, screen) {
    const folder = process.cwd()
    const isJson = given.has('json')
    const bins = ['vitest-harvest', 'vitest'].map((name) => binOf(folder, name))
    const files = demoFiles(await freePort())
    refuseTaken(folder, Object.keys(files))
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text, { flag: 'wx' })
    }
    if (!isJson) screen.line(`wrote ${Object.keys(files).join(', ')}`)
    const played: Played[] = []
    for (const step of demoSteps) played.push(await play(step, bins, isJson ? undefined : screen))
    if (isJson) screen.json({ folder, files: Object.keys(files), steps: played, next: demoNext })
    else {
      screen.line()
      screen.line(
        'The agent is fixed, and its test keeps it so. Each line behind $ works here again, in this order. Go on:',
      )
      for (const { about, command } of demoNext) screen.line(`→ ${about}: ${command}`)
    }
    return exit.ok
  },
}

async function play(
  { about, command, exit: wanted = 0 }: (typeof demoSteps)[number],
  bins: readonly string[],
  screen: Screen | undefined,
): Promise<Played> {
  if (about !== '') screen?.line(`\n${about}`)
  screen?.line(`${about === '' ? '' : '\n'}${screen.paint('bold', `$ ${command}`)}`)
  const { code, output } = await runLine(command, bins)
  screen?.line(neutralLines(output.trimEnd()).replaceAll(/^(?=.)/gm, '  '))
  if (code === wanted) return { command, exit: code, output }
  throw new HarvestError('HARVEST_DEMO_STEP', {
    what: 'A step of the demo did not end as expected',
    where: { step: command, 'exit code': `${code}, expected ${wanted}`, ...(screen === undefined ? { output } : {}) },
    fix: [`to run the step alone: ${command}`, 'to start again: run the demo in an empty folder'],
  })
}

/**
 * As a shell runs it, without the search of npx for what is installed here. Ends with the command, no matter what it
 * started.
 */
function runLine(
  command: string,
  bins: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const line = command.replace(/^npx /, '').replace(/(?<= )npx /, '')
  const path = [...bins, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  // The reader asked for this run: what CI and coding agents may not bless is a toy here.
  const env = { ...process.env, PATH: path, NO_COLOR: '1', FORCE_COLOR: '0', HARVEST_ALLOW_CI_UPDATE: '1' }
  const child = spawn(line, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return new Promise((ended, failed) => {
    child.once('error', failed)
    child.once('close', (code) => ended({ code: code ?? 1, output }))
  })
}

/** The folder of the programs of a package that is installed for this folder. */
function binOf(folder: string, name: string): string {
  const require = createRequire(join(folder, 'noop.js'))
  try {
    // From the top of the folder that holds the package: its programs lie beside it.
    return resolve(dirname(require.resolve(`${name}/package.json`)), '../.bin')
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_DEMO_PACKAGES',
      {
        what: 'The demo needs Vitest and vitest-harvest installed in this folder',
        where: { folder, missing: name },
        why: 'Its agent is recorded and tested as yours would be.',
        fix: ['npm install --save-dev vitest vitest-harvest', 'npx vitest-harvest demo'],
      },
      { cause },
    )
  }
}

function refuseTaken(folder: string, files: readonly string[]): void {
  const taken = [...files, 'recordings'].filter((file) => existsSync(join(folder, file)))
  if (taken.length === 0) return
  throw new HarvestError('HARVEST_DEMO_FILES', {
    what: 'The demo needs an empty folder: some of its files exist here',
    where: { folder, files: taken.join(', ') },
    fix: ['mkdir demo && cd demo', 'npm install --save-dev vitest vitest-harvest && npx vitest-harvest demo'],
  })
}

/** One that nothing listens on now: the scripted model has it from then on. */
function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
