import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { listCases } from '../../recordings/index.ts'
import { pageOf } from '../../report/view/page.ts'
import { openSpec } from '../spec/inspect.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { findRun, type FoundRun } from '../find.ts'
import { readWhole } from '../live.ts'
import { gatherReport } from '../reporting/gather.ts'
import { gatherGolden, gatherInbox } from '../reporting/golden.ts'
import { type Pages, servePages } from '../reporting/serve.ts'

/** Tapes of the inbox that the first page lists. */
const listed = 500

/** Serves the reports of all recordings to whoever has the link. What costs money is a command to copy. */
export const openCommand: Command = {
  ...openSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const [word] = given.args
    const first = word === undefined ? undefined : findRun(word, recordings)
    const served = await servePages(pagesOf(recordings, given), readWhole(given, openCommand, 'port', 65_535) ?? 0)
    const url = first === undefined ? served.url : `${served.url}${addressOf(first)}`
    const data = await gatherGolden(recordings, given.values('results'))
    const inbox = await gatherInbox(recordings, tapeAddress, listed)
    if (given.has('json')) screen.json({ url, inbox: inbox.length, golden: data.cases.length })
    else {
      const red = data.cases.filter(({ state }) => state === 'red').length
      screen.line(`${url}  inbox ${inbox.length}, golden ${data.cases.length}${red === 0 ? '' : `, ${red} red`}`)
      screen.note('Ctrl-C ends it')
    }
    if (given.has('browser')) openBrowser(url)
    await ended()
    await served.close()
    return exit.ok
  },
}

/** Every page is made when it is asked for, from the files as they are then. */
function pagesOf(recordings: string, given: CommandInput): Pages {
  return async (path) => {
    const [kind = '', name = '', ...more] = path.split('/')
    if (more.length > 0) return undefined
    if (kind === '' && name === '') return firstPage(recordings, given)
    const found =
      kind === 'case' ? caseAt(recordings, name) : kind === 'run' ? await tapeAt(recordings, name) : undefined
    return found === undefined ? undefined : pageOf(gatherReport(found, { recordings }))
  }
}

async function firstPage(recordings: string, given: CommandInput): Promise<string> {
  const data = await gatherGolden(recordings, given.values('results'), ({ file }) => `case/${keyOf(file)}`)
  return pageOf({ ...data, inbox: await gatherInbox(recordings, tapeAddress, listed) })
}

function caseAt(recordings: string, key: string): FoundRun | undefined {
  const summary = listCases(recordings).find(({ file }) => keyOf(file) === key)
  return summary === undefined ? undefined : findRun(resolve(summary.file), recordings)
}

/** Tapes that were listed, by their key: what is asked for is looked up here, and never a path. */
const tapes = new Map<string, string>()

function tapeAddress(file: string): string {
  tapes.set(keyOf(file), file)
  return `run/${keyOf(file)}`
}

async function tapeAt(recordings: string, key: string): Promise<FoundRun | undefined> {
  if (!tapes.has(key)) await gatherInbox(recordings, tapeAddress, listed)
  const file = tapes.get(key)
  return file === undefined || !existsSync(file) ? undefined : { file }
}

function addressOf(found: FoundRun): string {
  return found.case === undefined ? tapeAddress(found.file) : `case/${keyOf(found.case.file)}`
}

/** Stands for a file in an address: names are text from elsewhere. */
function keyOf(file: string): string {
  return createHash('sha256').update(resolve(file)).digest('hex').slice(0, 16)
}

function openBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  // Without one the address is there to be opened by hand.
  spawn(program, [url], { stdio: 'ignore', detached: true }).once('error', () => {})
}

/** Until Ctrl-C, or until whoever started it ends it. */
function ended(): Promise<void> {
  return new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end())
  })
}
