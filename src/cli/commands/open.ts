import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSpec } from '../spec/inspect.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { findRun } from '../find.ts'
import { readWhole } from '../live.ts'
import { gatherGolden } from '../reporting/golden.ts'
import { addressOfQuery, askedOf, gatherInbox } from '../reporting/inbox.ts'
import { addressOf, pagesOf, tapeAddress } from '../reporting/pages.ts'
import { servePages } from '../reporting/serve.ts'
import { filterOf } from '../tape-filter.ts'

/** Serves the reports of all recordings to whoever has the link. What costs money is a command to copy. */
export const openCommand: Command = {
  ...openSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const [word] = given.args
    const first = word === undefined ? undefined : findRun(word, recordings)
    // What makes no sense is refused here, before anything is served.
    const { subject } = filterOf(given, Date.now(), openCommand)
    const asked = askedOf(given)
    const port = readWhole(given, openCommand, 'port', 65_535) ?? 0
    const served = await servePages(pagesOf(recordings, given.values('results'), subject), port)
    const query = addressOfQuery(asked)
    const path = first === undefined ? (query === '' ? '' : `?${query}`) : addressOf(first)
    const url = `${served.url}${path}`
    const data = await gatherGolden(recordings, given.values('results'))
    const inbox = await gatherInbox(recordings, asked, tapeAddress, subject)
    const fit = inbox.tapes.length + inbox.more
    if (given.has('json')) screen.json({ url, inbox: fit, golden: data.cases.length })
    else {
      const red = data.cases.filter(({ state }) => state === 'red').length
      screen.line(`${url}  inbox ${fit}, golden ${data.cases.length}${red === 0 ? '' : `, ${red} red`}`)
      screen.note('Ctrl-C ends it')
    }
    const forget = given.has('browser') ? openBrowser(served.once(path)) : undefined
    await ended()
    forget?.()
    await served.close()
    return exit.ok
  },
}

/**
 * Opens a page in the browser of the system. Arguments of a process are seen by every user: the program gets the name of a
 * file that no other user can read, and the address in it is good for once.
 *
 * @returns removes the file
 */
function openBrowser(address: string): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-open-'))
  const file = join(folder, 'open.html')
  writeFileSync(file, `<!doctype html><title>report</title><meta http-equiv="refresh" content="0;url=${address}">`, {
    mode: 0o600,
  })
  const program = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  const browser = spawn(program, [file], { stdio: 'ignore', detached: true })
  // Without one the address is there to be opened by hand.
  browser.once('error', () => {})
  // It may stay open longer than this command, whose end does not wait for it.
  browser.unref()
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Until Ctrl-C, or until whoever started it ends it. */
function ended(): Promise<void> {
  return new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end())
  })
}
